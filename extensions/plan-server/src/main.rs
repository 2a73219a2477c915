//! Starts the server, and prints the address to open.

use clap::Parser;
use plan_graph::Line;
use plan_server::{Server, Settings};
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::debug_fn;

/// Checks, approves, runs and shows plans on a page.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The address of the server; port 0 selects a free port.
    #[arg(long, env = "PLAN_SERVER_ADDRESS", default_value = "127.0.0.1:8321")]
    address: SocketAddr,

    /// The folder of the runs and of the token [default: plan-server in the folder of the user's data].
    #[arg(long, env = "PLAN_SERVER_DATA")]
    data: Option<PathBuf>,

    /// The name of a proxy in front of the server, such as `plans.example.org`; repeat the option for several names.
    #[arg(
        long = "host",
        value_name = "NAME",
        env = "PLAN_SERVER_HOSTS",
        value_delimiter = ','
    )]
    hosts: Vec<String>,
}

/// Returns `$XDG_DATA_HOME/plan-server`, or `~/.local/share/plan-server` without the variable.
fn default_folder() -> Option<PathBuf> {
    let own = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let own = own.filter(|folder| folder.is_absolute());
    let folder = own.or_else(|| Some(std::env::home_dir()?.join(".local/share")))?;
    Some(folder.join("plan-server"))
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| "warn,plan_runtime=error,plan_server=info".into());
    // A name of a plan or a part of a request must not forge a line of the log.
    let fields = debug_fn(|out, field, value| match field.name() {
        "message" => write!(out, "{}", Line(format_args!("{value:?}"))),
        name => write!(out, "{name}={}", Line(format_args!("{value:?}"))),
    });
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    tracing_subscriber::fmt()
        .with_ansi(std::io::stderr().is_terminal() && !no_color)
        .with_env_filter(filter)
        .fmt_fields(fields.delimited(" "))
        .with_writer(std::io::stderr)
        .init();
    let options = Options::parse();
    let Some(data) = options.data.or_else(default_folder) else {
        eprintln!(
            "plan-server: there is no home folder; set the folder of the runs with `--data FOLDER`"
        );
        return ExitCode::FAILURE;
    };
    let settings = Settings {
        address: options.address,
        data,
        hosts: options.hosts,
    };
    let server = match Server::bind(&settings).await {
        Ok(server) => server,
        Err(error) => {
            eprintln!("plan-server: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", server.url());
    match server.serve(signal()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("plan-server: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Is ready after Ctrl-C or SIGTERM.
async fn signal() {
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut terminated) => drop(terminated.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
