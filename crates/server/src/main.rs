//! The binary `toolgate`.

fn main() -> std::process::ExitCode {
    toolgate_server::run()
}
