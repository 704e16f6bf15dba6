#!/usr/bin/env node
// Runs the binary of this system, which comes in a package of its own. It gets the terminal, the arguments and the signals as they are.
"use strict";

const { spawn } = require("node:child_process");

const name = `@mcphud/${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/mcphud${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(
    `mcphud: the package ${name} is not installed: either there is no binary for this system, or optional packages were left out ` +
      "(npm install --include=optional mcphud; or go install github.com/mcphud/mcphud/cmd/mcphud@latest)",
  );
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both; the child decides what they mean, and this process waits for it.
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
for (const signal of signals) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || signal === "SIGHUP" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (err) => {
  console.error(`mcphud: cannot start ${binary}: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    for (const s of signals) process.removeAllListeners(s);
    process.kill(process.pid, signal);
    return;
  }
  process.exit(code);
});
