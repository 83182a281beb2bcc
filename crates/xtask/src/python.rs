//! MCP servers, the gRPC client and the generated stubs that the Python tests use.

use std::{fs, process::Command};

use crate::{checkout::Checkout, codegen, command, error::TaskError, stamp::Stamp};

/// A virtual environment with exactly what `tests/python/requirements.txt` names.
pub(crate) fn install(checkout: &Checkout) -> Result<(), TaskError> {
    let requirements = checkout.root().join("tests/python/requirements.txt");
    let pins = fs::read_to_string(&requirements).map_err(TaskError::file(&requirements))?;
    let version = command::output(Command::new("python3").arg("--version"))?;
    let stamp = Stamp::new(checkout, "python", format!("{version}\n{pins}"));
    if stamp.is_current() && checkout.python().exists() {
        println!("the virtual environment is what requirements.txt asks for");
        return Ok(());
    }
    let environment = checkout.tools().join("python");
    command::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))?;
    command::run(
        Command::new(checkout.python())
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--require-hashes",
                "--requirement",
            ])
            .arg(requirements),
    )?;
    stamp.write()
}

/// Messages and stubs of `proto/`, as a customer would generate them.
pub(crate) fn generate_stubs(checkout: &Checkout) -> Result<(), TaskError> {
    let folder = checkout.python_stubs();
    if folder.is_dir() {
        fs::remove_dir_all(&folder).map_err(TaskError::file(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
    let option = |name: &str, path: &std::path::Path| format!("--{name}={}", path.display());
    command::run(
        Command::new(checkout.python())
            .args(["-m", "grpc_tools.protoc"])
            .arg(option("proto_path", &checkout.proto()))
            .arg(option("python_out", &folder))
            .arg(option("grpc_python_out", &folder))
            .args(codegen::proto_files(checkout)?),
    )
}
