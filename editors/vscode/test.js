// test: the extension in a stand-in for VS Code, with the real language server.  `node editors/vscode/test.js build/pipec`
"use strict";
const assert = require("assert");
const Module = require("module");
const { readFileSync } = require("fs");

const providers = {}, listeners = {}, mistakes = new Map();
class Pair { constructor(a, b) { this.a = a; this.b = b; } }
class Position { constructor(line, character) { this.line = line; this.character = character; } }
class Range { constructor(start, end) { this.start = start; this.end = end; } }
class Named { constructor(...values) { this.values = values; } }
class Edit { constructor() { this.of = new Map(); } set(uri, all) { this.of.set(uri.toString(), all); } }
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
const uri = (text) => ({ toString: () => text });
const listen = (name) => (take) => { listeners[name] = take; return {}; };
const DOCUMENT = {
  languageId: "pipe", uri: uri("file:///a.pipe"), version: 1,
  text: "input image[y, x]\nb = gaussian(image,2)\noutput c = gausian(b, 1)\n",
  getText() { return this.text; },
};
const vscode = {
  Position, Range, Diagnostic, Hover: Pair, Location: Pair, MarkdownString: Named, TextEdit: Pair, CompletionItem: Pair,
  CodeAction: Pair, InlayHint: Named, WorkspaceEdit: Edit,
  DiagnosticSeverity: { Error: 0, Warning: 1 }, CodeActionKind: { QuickFix: "fix" }, InlayHintKind: { Type: 1 },
  Uri: { parse: uri },
  window: { showWarningMessage: (text) => { throw new Error(text); } },
  workspace: {
    getConfiguration: () => ({ get: () => process.argv[2] }), textDocuments: [DOCUMENT],
    onDidOpenTextDocument: listen("open"), onDidChangeTextDocument: listen("change"), onDidCloseTextDocument: listen("close"),
  },
  languages: new Proxy({ createDiagnosticCollection: () => ({ set: (at, of) => mistakes.set(at.toString(), of),
                                                              delete: (at) => mistakes.delete(at.toString()) }) }, {
    get: (own, name) => own[name] || ((of, provider) => { providers[name] = provider; return {}; }),
  }),
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require("./extension");

async function main() {
  await extension.activate({ subscriptions: [] });
  const at = new Position(1, 6), all = new Range(new Position(0, 0), new Position(3, 0));
  const hover = await providers.registerHoverProvider.provideHover(DOCUMENT, at);
  assert.match(hover.a.values[0], /standard deviation/);
  assert.deepStrictEqual(mistakes.get("file:///a.pipe").map((one) => one.range.start.line), [2]);
  const [fix] = await providers.registerCodeActionsProvider.provideCodeActions(DOCUMENT, all);
  assert.strictEqual(fix.a, "write `gaussian`");
  const names = await providers.registerCompletionItemProvider.provideCompletionItems(DOCUMENT, at);
  assert(names.some((one) => one.a === "otsu" && one.b === 2)); // a function
  const [edit] = await providers.registerDocumentFormattingEditProvider.provideDocumentFormattingEdits(DOCUMENT);
  assert.match(edit.b, /gaussian\(image, 2\)/);
  const go = await providers.registerDefinitionProvider.provideDefinition(DOCUMENT, new Position(2, 20));
  assert.strictEqual(go.b.start.line, 1);
  DOCUMENT.text = "input image[y, x]\nb = gaussian(image, 2)\noutput b\n";
  listeners.change({ document: DOCUMENT });
  const hints = await providers.registerInlayHintsProvider.provideInlayHints(DOCUMENT, all);
  assert.match(hints[0].values[1], /image f32/);
  assert.deepStrictEqual(mistakes.get("file:///a.pipe"), []);
  const grammar = JSON.parse(readFileSync(`${__dirname}/syntaxes/pipe.tmLanguage.json`));
  grammar.patterns.forEach((one) => new RegExp(one.match || one.begin));
  await extension.deactivate();
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
