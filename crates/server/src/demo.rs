//! `toolgate demo`: the product in one minute, with nothing made up.
//!
//! A server with a store of its own on loopback, the sample tool server registered over stdio, rulings made through the
//! gRPC API as anybody would make them, and the four documented answers fetched over HTTP and printed as they came.

use std::{
    fs::{OpenOptions, Permissions},
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
    process::ExitCode,
};

use toolgate_config::{AllowedCommand, Secret, Settings, StoreEngine};
use toolgate_lifecycle::Signals;
use toolgate_sealing::{format_api_key, new_secret};

use crate::{
    ambient::SystemEntropy,
    arguments::ServerFlags,
    compose::Running,
    failure::Failure,
    serve::{telemetry, until_stopped},
};

mod show;
mod story;

use story::Story;

/// Shows the product and stays up until it is told to stop. Its data goes with it.
pub(crate) async fn demo(flags: &ServerFlags) -> Result<ExitCode, Failure> {
    let mut settings = flags.settings()?;
    let _telemetry = telemetry(&settings)?;
    let mut signals = Signals::listen().map_err(Failure::Signals)?;
    let made = tempfile::Builder::new()
        .prefix("toolgate-demo-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir();
    let folder = made.map_err(|source| Failure::File { path: std::env::temp_dir(), source })?;
    let story = Story::prepare(folder.path(), operator_key(&mut settings))?;
    isolate(&mut settings, folder.path(), &story);

    let running = Running::start(&settings).await?;
    let told = async {
        let ending = story.tell(running.addresses).await?;
        show::print(&story, running.addresses, &ending).await
    };
    told.await.map_err(|error| Failure::Demo(error.to_string()))?;
    Ok(until_stopped(running, &mut signals, &settings).await)
}

/// The key in the settings, or one that is put there.
fn operator_key(settings: &mut Settings) -> String {
    let given = settings.keys.bootstrap_key.as_ref().map(|key| key.expose().to_owned());
    let key = given.unwrap_or_else(|| {
        let mut id = [0; 16];
        SystemEntropy::fill(&mut id);
        format_api_key(&id, &new_secret()).to_string()
    });
    settings.keys.bootstrap_key = Some(Secret::new(key.clone()));
    key
}

/// A store of its own, the sample server alone, and free ports where the usual ones are taken.
fn isolate(settings: &mut Settings, folder: &Path, story: &Story) {
    settings.store.engine = StoreEngine::Sled;
    settings.store.data_dir = folder.join("data");
    settings.keys.master_key_file = None;
    let [program, leading_args @ ..] = story.command();
    let (program, leading_args) = (program.clone(), leading_args.to_vec());
    settings.outbound.stdio_allow = vec![AllowedCommand { program, leading_args }];
    for address in [&mut settings.http.addr, &mut settings.grpc.addr, &mut settings.admin.addr] {
        *address = on_loopback(*address);
    }
}

fn on_loopback(wanted: SocketAddr) -> SocketAddr {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, wanted.port()));
    let is_free = TcpListener::bind(address).is_ok();
    if is_free { address } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
}

/// Writes a file that nobody else can read: one of them holds a key.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = |source: io::Error| Failure::File { path: path.to_owned(), source };
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    opened.and_then(|mut opened| opened.write_all(text.as_bytes())).map_err(file)
}
