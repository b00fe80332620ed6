# Serves the chat of chat-agent.mjs, bundled as worker.mjs. The address comes from the command line.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "chat", worker = (
    modules = [(name = "worker", esModule = embed "worker.mjs")],
    compatibilityDate = "2026-11-01",
  ))],
  sockets = [(name = "http", http = (), service = "chat")],
);
