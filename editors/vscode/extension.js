// extension: what `pipec lsp` answers, handed to VS Code.  It needs no packages, so it installs without network.
"use strict";
const vscode = require("vscode");
const { Client } = require("./client");

const PIPE = { language: "pipe" };
let client = null;

const place = (position) => ({ line: position.line, character: position.character });
const position = (at) => new vscode.Position(at.line, at.character);
const range = (at) => new vscode.Range(position(at.start), position(at.end));
const document = (of) => ({ uri: of.uri.toString() });
const isPipe = (of) => of.languageId === "pipe";

function edits(all) {
  return (all || []).map((edit) => new vscode.TextEdit(range(edit.range), edit.newText));
}

function diagnostic(of) {
  const severity = of.severity === 1 ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const to = new vscode.Diagnostic(range(of.range), of.message, severity);
  to.source = of.source;
  to.code = of.code;
  return to;
}

function item(of) {
  const to = new vscode.CompletionItem(of.label, of.kind - 1); // VS Code counts kinds from 0
  to.detail = of.detail;
  to.documentation = of.documentation;
  return to;
}

function fix(of) {
  const to = new vscode.CodeAction(of.title, vscode.CodeActionKind.QuickFix);
  to.isPreferred = of.isPreferred;
  to.diagnostics = of.diagnostics.map(diagnostic);
  to.edit = new vscode.WorkspaceEdit();
  for (const [uri, changes] of Object.entries(of.edit.changes)) to.edit.set(vscode.Uri.parse(uri), edits(changes));
  return to;
}

// What the editor asks, by the name of the interface that it asks through.
const PROVIDERS = {
  Hover: {
    provideHover: async (doc, at) => {
      const hover = await ask("hover", doc, { position: place(at) });
      return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value), range(hover.range));
    },
  },
  Definition: {
    provideDefinition: async (doc, at) => {
      const to = await ask("definition", doc, { position: place(at) });
      return to && new vscode.Location(vscode.Uri.parse(to.uri), range(to.range));
    },
  },
  DocumentFormattingEdit: {
    provideDocumentFormattingEdits: async (doc) => edits(await ask("formatting", doc, {})),
  },
  CodeActions: {
    provideCodeActions: async (doc, of) => ((await ask("codeAction", doc, { range: between(of) })) || []).map(fix),
  },
  InlayHints: {
    provideInlayHints: async (doc, of) =>
      ((await ask("inlayHint", doc, { range: between(of) })) || []).map(
        (hint) => new vscode.InlayHint(position(hint.position), hint.label, vscode.InlayHintKind.Type)),
  },
};

function between(of) {
  return { start: place(of.start), end: place(of.end) };
}

async function ask(what, doc, params) {
  try {
    return await client.request(`textDocument/${what}`, { textDocument: document(doc), ...params });
  } catch {
    return null; // the server's end has been told
  }
}

function open(doc) {
  if (!isPipe(doc)) return;
  const of = { uri: doc.uri.toString(), languageId: "pipe", version: doc.version, text: doc.getText() };
  client.notify("textDocument/didOpen", { textDocument: of });
}

function change(doc) {
  if (!isPipe(doc)) return;
  client.notify("textDocument/didChange", {
    textDocument: { uri: doc.uri.toString(), version: doc.version },
    contentChanges: [{ text: doc.getText() }],
  });
}

async function activate(context) {
  const mistakes = vscode.languages.createDiagnosticCollection("pipec");
  const command = vscode.workspace.getConfiguration("pipec").get("path");
  const told = (method, params) => {
    if (method !== "textDocument/publishDiagnostics") return;
    mistakes.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
  };
  const ended = (error) => vscode.window.showWarningMessage(`pipec: ${command} lsp: ${error.message}`);
  client = new Client(command, told, ended);
  context.subscriptions.push(mistakes);
  try {
    await client.request("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  } catch {
    return;
  }
  client.notify("initialized", {});
  for (const [name, provider] of Object.entries(PROVIDERS)) {
    context.subscriptions.push(vscode.languages[`register${name}Provider`](PIPE, provider));
  }
  const complete = {
    provideCompletionItems: async (doc, at) => ((await ask("completion", doc, { position: place(at) })) || []).map(item),
  };
  context.subscriptions.push(
    vscode.languages.registerCompletionItemProvider(PIPE, complete, ".", "("),
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidChangeTextDocument((event) => change(event.document)),
    vscode.workspace.onDidCloseTextDocument((doc) => {
      if (!isPipe(doc)) return;
      client.notify("textDocument/didClose", { textDocument: document(doc) });
      mistakes.delete(doc.uri);
    }),
  );
  vscode.workspace.textDocuments.forEach(open);
}

async function deactivate() {
  if (client !== null) await client.stop().catch(() => {});
}

module.exports = { activate, deactivate };
