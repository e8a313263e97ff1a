// client: requests and answers of the Language Server Protocol over a process's pipes.  It knows nothing of VS Code.
"use strict";
const { spawn } = require("child_process");

class Client {
  // `told(method, params)` hears what the server says by itself, `ended(error)` that it is gone.
  constructor(command, told, ended) {
    this.told = told;
    this.waiting = new Map();
    this.next = 1;
    this.bytes = Buffer.alloc(0);
    this.process = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    this.process.on("error", (error) => this.end(error, ended));
    this.process.on("exit", () => this.end(new Error("the language server has ended"), ended));
    this.process.stdin.on("error", () => {}); // an exit follows
    this.process.stdout.on("data", (bytes) => this.read(bytes));
  }

  end(error, ended) {
    if (this.process === null) return;
    this.process = null;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    ended(error);
  }

  write(message) {
    if (this.process === null) return;
    const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${text.length}\r\n\r\n`);
    this.process.stdin.write(text);
  }

  notify(method, params) {
    this.write({ method, params });
  }

  request(method, params) {
    if (this.process === null) return Promise.reject(new Error("the language server does not run"));
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.write({ id, method, params });
    });
  }

  read(bytes) {
    this.bytes = Buffer.concat([this.bytes, bytes]);
    for (;;) {
      const head = this.bytes.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.bytes.toString("latin1", 0, head))[1]);
      if (this.bytes.length < head + 4 + length) return;
      const message = JSON.parse(this.bytes.toString("utf8", head + 4, head + 4 + length));
      this.bytes = this.bytes.subarray(head + 4 + length);
      this.take(message);
    }
  }

  take(message) {
    if (message.id === undefined) {
      this.told(message.method, message.params);
      return;
    }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (waiting === undefined) return;
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  async stop() {
    if (this.process === null) return;
    await this.request("shutdown", null);
    this.notify("exit");
  }
}

module.exports = { Client };
