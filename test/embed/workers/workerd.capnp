using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .chat),
    (name = "internet", network = (allow = ["local", "private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1", http = (), service = "main")],
);

const chat :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "out/worker.js")],
  compatibilityDate = "2026-05-01",
  compatibilityFlags = ["nodejs_compat", "enable_request_signal"],
  bindings = [(name = "SERVICES", fromEnvironment = "SERVICES")],
);
