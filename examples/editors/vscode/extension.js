// Starts `loopxform lsp` for C files. The server does the rest.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

// What the server takes; `command` is the extension's own.
const SETTINGS = [
  "includePaths",
  "defines",
  "undefines",
  "cflags",
  "timeLimit",
  "memoryLimit",
  "debounce",
  "hints",
];

function settings() {
  const all = vscode.workspace.getConfiguration("loopxform");
  return Object.fromEntries(SETTINGS.map((name) => [name, all.get(name)]));
}

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("loopxform").get("command");
  client = new LanguageClient(
    "loopxform",
    "loopxform",
    { command, args },
    {
      documentSelector: [{ language: "c" }],
      initializationOptions: settings(),
      middleware: {
        workspace: {
          configuration: (params) => params.items.map(() => settings()),
        },
      },
      synchronize: {
        configurationSection: "loopxform",
        fileEvents: vscode.workspace.createFileSystemWatcher("**/*.h"),
      },
    },
  );
  await client.start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("loopxform.restart", async () => {
      await client?.stop();
      await start();
    }),
  );
  try {
    await start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `loopxform does not start: ${error.message}. Install it (pip install 'loopxform[lsp]'), ` +
        "and name it in the setting loopxform.command.",
    );
  }
};

exports.deactivate = () => client?.stop();
