//! The image and the manifest under `deploy/`: what they name exists, and the server runs with it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use toolgate_config::{FIELDS, Settings, Sources};
use toolgate_test_support::server::Server;

use crate::installed::{Installed, own_file};

/// Takes from a YAML file everything that stands in it, as one JSON array of its documents.
const YAML_TO_JSON: &str =
    "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
const CONTAINERFILE: &str = "deploy/Containerfile";
const MANIFEST: &str = "deploy/kubernetes/toolgate.yaml";

fn root() -> PathBuf {
    own_file("..")
}

/// Each instruction of the Containerfile with its arguments; lines that go on are joined.
fn instructions() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(root().join(CONTAINERFILE)).unwrap().replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let words = lines.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.map(|mut words| (words.remove(0), words)).collect()
}

fn arguments_of(name: &str) -> Vec<Vec<String>> {
    let found = instructions().into_iter().filter(|(instruction, _)| instruction == name);
    found.map(|(_, arguments)| arguments).collect()
}

/// The `ENV` lines, which hold one variable each.
fn image_environment() -> Vec<(String, String)> {
    let pair = |words: Vec<String>| {
        let [pair] = &words[..] else { panic!("one variable a line: {words:?}") };
        pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap()
    };
    arguments_of("ENV").into_iter().map(pair).collect()
}

/// The settings under these variables; a name or a value that the server does not take is an error.
fn settings(environment: &[(String, String)]) -> Settings {
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Settings::load(&Sources { environment, ..Sources::default() }).unwrap()
}

/// The documents of the manifest.
struct Manifest(Vec<Value>);

impl Manifest {
    /// `None` where there is no Python to read it with.
    fn read() -> Option<Self> {
        let python = Installed::find("the manifest")?.python;
        let run = Command::new(python).args(["-c", YAML_TO_JSON]).arg(root().join(MANIFEST)).output();
        let run = run.unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        Some(Self(serde_json::from_slice(&run.stdout).unwrap()))
    }

    fn of_kind(&self, kind: &str) -> &Value {
        self.0.iter().find(|document| document["kind"] == kind).unwrap()
    }

    fn pod(&self) -> &Value {
        &self.of_kind("StatefulSet")["spec"]["template"]["spec"]
    }

    fn container(&self) -> &Value {
        &self.pod()["containers"][0]
    }

    /// Name and literal value of each variable; what comes out of a secret is a stand-in.
    fn environment(&self) -> Vec<(String, String)> {
        let pair = |variable: &Value| {
            let value = variable["value"].as_str().unwrap_or("stand-in-for-what-the-secret-holds");
            (variable["name"].as_str().unwrap().to_owned(), value.to_owned())
        };
        self.container()["env"].as_array().unwrap().iter().map(pair).collect()
    }

    fn port(&self, name: &Value) -> u64 {
        let ports = self.container()["ports"].as_array().unwrap();
        ports.iter().find(|port| port["name"] == *name).unwrap()["containerPort"].as_u64().unwrap()
    }
}

#[test]
fn the_image_copies_what_exists_and_builds_the_binary_that_it_starts() {
    let mut stages = Vec::new();
    for (instruction, arguments) in instructions() {
        match (instruction.as_str(), &arguments[..]) {
            ("FROM", [_, word, stage]) if word == "AS" => stages.push(stage.clone()),
            ("COPY", [from, .., target]) if from.starts_with("--from=") => {
                assert!(stages.contains(&from["--from=".len()..].to_owned()), "{from}");
                assert!(target.starts_with('/'), "{target}");
            }
            ("COPY", [sources @ .., _]) => {
                for source in sources {
                    assert!(root().join(source).exists(), "{source} is not in the checkout");
                }
            }
            _ => {}
        }
    }
    let build: Vec<_> =
        arguments_of("RUN").into_iter().filter(|run| run.contains(&"build".to_owned())).collect();
    let [build] = &build[..] else { panic!("one build: {build:?}") };
    let value = |flag: &str| {
        let at = build.iter().position(|word| word == flag).unwrap();
        build[at + 1].as_str()
    };
    assert!(build.contains(&"--locked".to_owned()), "{build:?}");
    let package = fs::read_to_string(root().join("crates/server/Cargo.toml")).unwrap();
    assert_eq!(value("--package"), "toolgate-server");
    assert!(package.contains(&format!("[[bin]]\nname = \"{}\"", value("--bin"))), "{}", value("--bin"));
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(workspace.contains(&format!("[profile.{}]", value("--profile"))), "{}", value("--profile"));

    let started = arguments_of("ENTRYPOINT").concat().concat();
    let binary = format!("/src/target/{}/{}", value("--profile"), value("--bin"));
    let copied = arguments_of("COPY").into_iter().find(|copy| copy.contains(&binary)).unwrap();
    assert_eq!(started, format!("[\"{}\"]", copied.last().unwrap()));
    assert_eq!(arguments_of("CMD").concat().concat(), r#"["serve"]"#);
}

#[test]
fn the_image_runs_as_a_plain_user_with_settings_that_the_server_takes() {
    let settings = settings(&image_environment());
    let mut exposed: Vec<u16> = arguments_of("EXPOSE").concat().iter().map(|p| p.parse().unwrap()).collect();
    let addresses = [settings.http.addr, settings.grpc.addr, settings.admin.addr];
    exposed.sort_unstable();
    let mut ports = addresses.map(|address| address.port());
    ports.sort_unstable();
    assert_eq!(exposed, ports);
    assert!(addresses.iter().all(|address| address.ip().is_unspecified()), "{addresses:?}");
    let folder = settings.store.data_dir.display().to_string();
    assert_eq!(arguments_of("VOLUME").concat(), std::slice::from_ref(&folder));
    let [user] = &arguments_of("USER").concat()[..] else { panic!("one user") };
    let owned = arguments_of("COPY").into_iter().find(|copy| copy.last() == Some(&folder)).unwrap();
    assert!(user != "0:0" && owned.contains(&format!("--chown={user}")), "{owned:?}");
}

#[test]
fn the_manifest_passes_the_schemas_of_kubernetes() {
    let Some(installed) = Installed::find("the manifest against the schemas of Kubernetes") else { return };
    let validate = installed.python.with_file_name("kubernetes-validate");
    let run = Command::new(validate).arg("--strict").arg(root().join(MANIFEST)).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
}

#[test]
fn the_manifest_names_settings_ports_and_probes_that_the_server_has() {
    let Some(manifest) = Manifest::read() else { return };
    let environment = manifest.environment();
    for (name, _) in &environment {
        assert!(FIELDS.iter().any(|field| field.env == name), "{name} is no setting");
    }
    let settings = settings(&environment);
    for (name, address) in
        [("http", settings.http.addr), ("grpc", settings.grpc.addr), ("admin", settings.admin.addr)]
    {
        assert_eq!(manifest.port(&name.into()), u64::from(address.port()), "{name}");
        assert!(address.ip().is_unspecified(), "{name} is not reachable from outside the pod");
    }
    for port in manifest.of_kind("Service")["spec"]["ports"].as_array().unwrap() {
        assert_eq!(manifest.port(&port["targetPort"]), port["port"].as_u64().unwrap());
        assert_ne!(port["targetPort"], "admin", "the admin port is for the node alone");
    }
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        assert_eq!(manifest.container()[probe]["httpGet"]["port"], "admin", "{probe}");
    }
    let grace = manifest.pod()["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > u64::from(settings.stop.grace_seconds), "{grace}");
    let mounts = manifest.container()["volumeMounts"].as_array().unwrap();
    let is_mounted =
        |path: &Path| mounts.iter().any(|mount| path.starts_with(mount["mountPath"].as_str().unwrap()));
    assert!(is_mounted(&settings.store.data_dir) && is_mounted(&settings.master_key_path()));
    // Kubernetes would set TOOLGATE_PORT and more of its own, which are no settings.
    assert_eq!(manifest.pod()["enableServiceLinks"], false);
}

#[test]
fn the_manifest_keeps_to_the_restricted_pod_security_standard() {
    let Some(manifest) = Manifest::read() else { return };
    let (pod, container) = (&manifest.pod()["securityContext"], &manifest.container()["securityContext"]);
    assert_eq!(
        (&pod["runAsNonRoot"], &pod["seccompProfile"]["type"]),
        (&true.into(), &"RuntimeDefault".into())
    );
    assert_eq!(container["allowPrivilegeEscalation"], false);
    assert_eq!(container["readOnlyRootFilesystem"], true);
    assert_eq!(container["capabilities"]["drop"], serde_json::json!(["ALL"]));
    assert_eq!(manifest.of_kind("StatefulSet")["spec"]["replicas"], 1);
    let user = arguments_of("USER").concat().concat();
    assert_eq!(user, format!("{}:{}", pod["runAsUser"], pod["runAsGroup"]), "as in the image");
}

#[tokio::test]
async fn the_server_answers_the_probes_and_the_hosts_of_the_manifest() {
    let Some(manifest) = Manifest::read() else { return };
    let mut builder = Server::builder();
    // Addresses and paths are of the pod; everything else stands.
    for (name, value) in manifest.environment() {
        if !["_ADDR", "_DIR", "_FILE"].iter().any(|of_the_pod| name.ends_with(of_the_pod)) {
            builder = builder.env(&name, &value);
        }
    }
    let server = builder.start().await;
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let path = manifest.container()[probe]["httpGet"]["path"].as_str().unwrap();
        assert_eq!(server.admin(path).await.status, 200, "{probe}");
    }
    let hosts = manifest.environment();
    let (_, hosts) = hosts.iter().find(|(name, _)| name == "TOOLGATE_ALLOWED_HOSTS").unwrap();
    for host in hosts.split(',') {
        let answer = server.as_nobody().get("/client/mcp/tools", &[("host", &format!("{host}:8080"))]).await;
        assert_eq!(answer.status, 401, "{host} is let through to the question who asks");
    }
    let foreign = server.as_nobody().get("/client/mcp/tools", &[("host", "elsewhere.example")]).await;
    assert_eq!(foreign.status, 421);
}
