//! The page, which is in the program.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use plan_runtime::Report;

/// The content security policy of the page: it loads only files of the server.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

fn file(content_type: &'static str, text: &'static str) -> impl IntoResponse + Clone {
    // The page shows a report in a frame with an opaque origin, which differs from the server's origin. The files
    // contain no data of runs.
    let headers = [
        (header::CONTENT_TYPE.as_str(), content_type),
        (header::CACHE_CONTROL.as_str(), "no-cache"),
        ("cross-origin-resource-policy", "cross-origin"),
    ];
    (headers, text)
}

/// Lists files of the page's folder with their addresses, content types and contents.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("/page/", $name), SCRIPT, include_str!(concat!("../page/", $name)))),*]
    };
}

const MODULES: &[(&str, &str, &str)] = files![
    "again.js",
    "arguments.js",
    "begin.js",
    "calls.js",
    "change.js",
    "compare.js",
    "complete.js",
    "corrections.js",
    "diff.js",
    "dom.js",
    "editor.js",
    "events.js",
    "field.js",
    "findings.js",
    "framed.js",
    "groups.js",
    "inbox.js",
    "limits.js",
    "live.js",
    "main.js",
    "many.js",
    "overview.js",
    "picture.js",
    "proposals.js",
    "questions.js",
    "report.js",
    "run.js",
    "runs.js",
    "samples.js",
    "scan.js",
    "server.js",
    "share.js",
    "start.js",
    "step.js",
    "store.js",
    "time.js",
    "timeline.js",
    "tools.js",
    "who.js",
];

pub(crate) fn routes() -> Router {
    let files = [
        ("/", HTML, include_str!("../page/index.html")),
        ("/page.css", STYLE, include_str!("../page/page.css")),
        ("/report.css", STYLE, Report::HTML_STYLE),
        ("/report.js", SCRIPT, Report::HTML_SCRIPT),
    ];
    let mut routes = Router::new();
    for (path, content_type, text) in files.into_iter().chain(MODULES.iter().copied()) {
        routes = routes.route(path, get(move || async move { file(content_type, text) }));
    }
    routes
}
