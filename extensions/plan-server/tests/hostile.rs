//! Clients that are wrong, slow, greedy or curious. Each gets an error with a fix, while the server serves the other
//! clients.

mod support;

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use support::{Folder, PATIENCE, Process};

/// Every address that needs the token.
const GUARDED: [(&str, &str); 13] = [
    ("GET", "/api/samples"),
    ("POST", "/api/check"),
    ("POST", "/api/runs"),
    ("GET", "/api/runs"),
    ("GET", "/api/runs/x"),
    ("GET", "/api/runs/x/events"),
    ("GET", "/api/runs/x/report.html"),
    ("POST", "/api/runs/x/questions/1"),
    ("POST", "/api/runs/x/signals"),
    ("POST", "/api/runs/x/cancel"),
    ("POST", "/graphql"),
    ("GET", "/graphql/schema"),
    ("GET", "/metrics"),
];

fn connect(server: &Process) -> TcpStream {
    let stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends these bytes and returns the response up to the end of the connection.
fn raw(server: &Process, request: &[u8]) -> String {
    let mut stream = connect(server);
    // The server may close the connection before it has read all bytes.
    let _ = stream.write_all(&for_host(server, request));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Replaces the host `x` of a request with the server's own host.
fn for_host(server: &Process, request: &[u8]) -> Vec<u8> {
    let host = format!("host: {}\r\n", server.url.strip_prefix("http://").unwrap());
    match std::str::from_utf8(request) {
        Ok(request) => request.replacen("host: x\r\n", &host, 1).into_bytes(),
        Err(_) => request.to_vec(),
    }
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

fn status(answer: &str) -> u16 {
    answer
        .split(' ')
        .nth(1)
        .unwrap_or_default()
        .parse()
        .unwrap_or(0)
}

/// Checks that a response is an error in the common form, with the common headers.
fn is_problem(answer: &str, expected: u16) {
    let (head, body) = answer.split_once("\r\n\r\n").expect(answer);
    assert_eq!(status(answer), expected, "{answer}");
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
    ] {
        assert!(head.contains(header), "{header}: {answer}");
    }
    let body: Value = serde_json::from_str(body).expect(answer);
    for member in ["code", "message", "help"] {
        assert!(
            body["error"][member]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{answer}"
        );
    }
}

fn serves(server: &Process) {
    let plan = r#"{"requestId": "r", "steps": [{"tool": "facilities_list", "params": {}}]}"#;
    let id = server.begin(plan, &json!({}), "none");
    assert_eq!(server.ended(&id)["state"], "done");
}

#[test]
fn nothing_is_answered_without_the_token() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let other = if server.token.ends_with('0') { 1 } else { 0 };
    let almost = format!("Bearer {}{other}", &server.token[..server.token.len() - 1]);
    for (method, path) in GUARDED {
        for given in [
            "",
            "Bearer ",
            "Bearer x",
            "Basic eDp4",
            &almost,
            &almost.replace("Bearer", "bearer"),
            &server.token,
        ] {
            let headers = if given.is_empty() {
                String::new()
            } else {
                format!("authorization: {given}\r\n")
            };
            is_problem(&raw(&server, &request(method, path, &headers, "{}")), 401);
        }
        // The token in the address is not one.
        let path = format!("{path}?token={}", server.token);
        is_problem(&raw(&server, &request(method, &path, "", "{}")), 401);
    }
    for path in [
        "/",
        "/page.css",
        "/page/main.js",
        "/report.css",
        "/report.js",
        "/health",
    ] {
        let answer = raw(&server, &request("GET", path, "", ""));
        assert_eq!(status(&answer), 200, "{path}");
        assert!(answer.contains("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"));
        assert!(!answer.contains(&server.token) && !answer.contains("unsafe-inline"));
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/page")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name.ends_with(".js")) {
        let answer = raw(&server, &request("GET", &format!("/page/{name}"), "", ""));
        assert_eq!(status(&answer), 200, "{name}");
    }
    is_problem(&raw(&server, &request("GET", "/api/nothing", "", "")), 404);
    is_problem(&raw(&server, &request("DELETE", "/health", "", "")), 405);
    serves(&server);
}

#[test]
fn bodies_are_bounded_and_read_with_care() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let token = format!("authorization: Bearer {}\r\n", server.token);
    let post = |path: &str, body: &str| raw(&server, &request("POST", path, &token, body));
    is_problem(&post("/api/check", &"x".repeat((1 << 20) + 1)), 413);
    is_problem(
        &post(
            "/api/check",
            &json!({"text": "x".repeat((256 << 10) + 1)}).to_string(),
        ),
        413,
    );
    is_problem(
        &post(
            "/api/runs",
            &json!({"text": "x".repeat((256 << 10) + 1)}).to_string(),
        ),
        413,
    );
    let deep = format!(
        "{{\"text\": {}{}}}",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    for body in [
        "",
        "{",
        "[]",
        r#"["[]"]"#,
        "null",
        r#"{"text": 5}"#,
        "\u{0}",
        &deep,
    ] {
        is_problem(&post("/api/check", body), 400);
    }
    for body in [
        r#"{"text": "[]", "profile": "loose"}"#,
        r#"{"text": "[]", "profile": ""}"#,
    ] {
        is_problem(&post("/api/check", body), 400);
    }
    // A plan that is deep, or nothing of the kind, has findings.
    for text in [
        "[".repeat(100_000),
        "{\"steps\": ".repeat(10_000),
        "\u{202e}".repeat(1000),
        "nonsense".into(),
        String::new(),
    ] {
        let answer = post("/api/check", &json!({"text": text}).to_string());
        assert_eq!(status(&answer), 200, "{answer}");
        let checked: Value =
            serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert!(
            checked["plan"].is_null() && !checked["findings"].as_array().unwrap().is_empty(),
            "{checked}"
        );
        is_problem(&post("/api/runs", &json!({"text": text}).to_string()), 422);
    }
    // A chunk without an end is subject to the limit as well.
    let mut stream = connect(&server);
    let head = format!(
        "POST /api/check HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n{token}\r\n"
    );
    let head = for_host(&server, head.as_bytes());
    stream.write_all(&head).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    while stream.write_all(chunk.as_bytes()).is_ok() {}
    serves(&server);
}

#[test]
fn ids_are_only_ids() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let token = format!("authorization: Bearer {}\r\n", server.token);
    let long = "x".repeat(10_000);
    for id in [
        "..%2f..%2ftoken",
        "%00",
        "'%20OR%201=1--",
        "%22",
        "%e2%80%ae",
        "%ff",
        &long,
    ] {
        for (method, rest) in [
            ("GET", ""),
            ("GET", "/events"),
            ("GET", "/report.html"),
            ("POST", "/cancel"),
        ] {
            let answer = raw(
                &server,
                &request(method, &format!("/api/runs/{id}{rest}"), &token, "{}"),
            );
            assert!(matches!(status(&answer), 400 | 404 | 409), "{id}: {answer}");
            assert!(!answer.contains(&server.token));
        }
    }
    for query in ["state=perhaps", "limit=-1", "limit=x", "before=x&before=y"] {
        let answer = raw(
            &server,
            &request("GET", &format!("/api/runs?{query}"), &token, ""),
        );
        is_problem(&answer, 400);
    }
    let answer = raw(
        &server,
        &request(
            "GET",
            "/api/runs?before=x&plan=%27&limit=999999",
            &token,
            "",
        ),
    );
    assert_eq!(status(&answer), 200);
    serves(&server);
}

#[test]
fn what_is_not_http_ends() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        long.as_bytes(),
    ] {
        let mut stream = connect(&server);
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(
            answer.is_empty()
                || matches!(status(&String::from_utf8_lossy(&answer)), 400 | 431 | 505)
        );
    }
    serves(&server);
}

#[test]
fn slow_clients_are_cut_off() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    // One head arrives byte by byte, the other stops halfway.
    let began = Instant::now();
    let slow: Vec<thread::JoinHandle<Duration>> = [true, false]
        .into_iter()
        .map(|sends| {
            let mut stream = connect(&server);
            thread::spawn(move || {
                stream.write_all(b"GET /health HTTP/1.1\r\nx: ").unwrap();
                stream
                    .set_read_timeout(Some(Duration::from_millis(250)))
                    .unwrap();
                loop {
                    if sends && stream.write_all(b"y").is_err() {
                        return began.elapsed();
                    }
                    match stream.read(&mut [0; 512]) {
                        Ok(0) => return began.elapsed(),
                        Err(error)
                            if !matches!(
                                error.kind(),
                                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                            ) =>
                        {
                            return began.elapsed();
                        }
                        _ => assert!(began.elapsed() < PATIENCE),
                    }
                }
            })
        })
        .collect();
    serves(&server);
    for client in slow {
        assert!(client.join().unwrap() >= Duration::from_secs(5));
    }
}

/// Clients without a token that send nothing, or do not read, block no other client.
#[test]
fn too_many_connections_leave_room_for_others() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let most = plan_server::limits::CONNECTIONS;
    let address = server.url.strip_prefix("http://").unwrap();
    let page = b"GET /page/main.js HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100);
    let mut open = Vec::new();
    for number in 0..most + most / 4 {
        let Ok(mut stream) = TcpStream::connect(address) else {
            break;
        };
        if number % 2 == 0 {
            let _ = stream.set_write_timeout(Some(Duration::from_millis(10)));
            let _ = stream.write_all(&page);
        }
        open.push(stream);
        if number % 100 == 0 {
            serves(&server);
        }
    }
    assert!(open.len() > most, "this machine allows too few");
    for _ in 0..20 {
        assert_eq!(server.get("/api/runs").0, 200);
        // Even without the token.
        assert_eq!(
            status(&raw(&server, &request("GET", "/health", "", ""))),
            200
        );
    }
    serves(&server);
    drop(open);
}

/// A client that does not read is disconnected, even with the token.
#[test]
fn clients_that_do_not_read_are_cut_off() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let token = format!("authorization: Bearer {}\r\n", server.token);
    let mut stream = connect(&server);
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let schema = format!("GET /graphql/schema HTTP/1.1\r\nhost: x\r\n{token}\r\n");
    let began = Instant::now();
    // The server reads no second request before it has responded to the first.
    let error = loop {
        if let Err(error) = stream.write_all(schema.as_bytes()) {
            break error;
        }
        assert!(began.elapsed() < PATIENCE, "it is never cut off");
    };
    let is_closed = matches!(
        error.kind(),
        std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe
    );
    assert!(is_closed, "{error}");
    serves(&server);
}

/// Returns a plan of this many steps, each of which returns a string of this length.
fn texts(name: &str, count: usize, length: usize) -> Value {
    let step = json!({"tool": "slow", "params": {"ms": 0, "text": "x".repeat(length)}});
    json!({"requestId": name, "steps": vec![step; count]})
}

/// Returns the code of the first error of a response.
fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"]
        .as_str()
        .unwrap_or_default()
}

#[test]
fn a_graphql_request_has_one_budget_for_all_its_fields() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = texts("big", 10, 20_000);
    let steps: Vec<Value> = plan["steps"].as_array().unwrap().clone();
    let execute = "mutation($plan: PlanInput!) { executePlan(plan: $plan) { requestId state } }";
    let done = server.graphql(
        execute,
        &json!({"plan": {"requestId": "big", "steps": steps}}),
    );
    assert_eq!(done["data"]["executePlan"]["state"], "done", "{done}");

    let aliases = |count: usize, field: &str| -> String {
        let fields = (0..count).map(|at| format!("a{at}: {field} "));
        format!("{{ {} }}", fields.collect::<String>())
    };
    let results = r#"results(requestId: "big") { results { data resolvedParams } }"#;
    let few = server.graphql(&aliases(5, results), &json!({}));
    assert_eq!(
        few["data"]["a4"]["results"][9]["data"]
            .as_str()
            .unwrap()
            .len(),
        20_000
    );
    // 22 fields are too large together. Many more would take a slow machine longer than the limit of time.
    let many = server.graphql(&aliases(24, results), &json!({}));
    assert_eq!(code(&many), "ANSWER_TOO_LARGE", "{many}");

    let step = r#"{tool: "emails_list", params: {}}"#;
    let check = format!("check(plan: {{steps: [{}]}}) {{ code }}", step.repeat(100));
    let query = |count: usize| {
        let fields = (0..count).map(|at| format!("a{at}: check(plan: $plan) {{ code }} "));
        let fields: String = fields.collect();
        server.graphql(
            &format!("query($plan: PlanInput!) {{ {fields} }}"),
            &json!({"plan": {"steps": vec![json!({"tool": "emails_list", "params": {}}); 100]}}),
        )
    };
    assert_eq!(query(10)["data"]["a9"], json!([]));
    assert_eq!(code(&query(240)), "TOO_COMPLEX");
    let long = server.graphql(&aliases(20, &check), &json!({}));
    assert_eq!(code(&long), "TOO_COMPLEX", "{long}");
    serves(&server);
}

/// The server encodes the state of a run once for all watchers.
#[test]
fn many_who_watch_a_large_run_are_in_nobodys_way() {
    const WATCHERS: u32 = 32;
    let folder = Folder::new();
    let server = Process::start(&folder);
    let list: Vec<u32> = (0..2_000).collect();
    let plan = json!({"steps": [{"id": "all", "for": {"pattern": "x", "list": list, "body": {"tool": "emails_list", "arguments": {}}}}], "output_steps": ["all"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    server.until(&id, |run| !run["ended"].is_null());
    // All clients connect at one time, and stay until all are connected.
    let streams: Vec<_> = (0..WATCHERS).map(|_| server.events(&id)).collect();
    thread::scope(|scope| {
        for events in streams {
            scope.spawn(move || {
                let names: Vec<String> = events.map(|(name, _)| name).collect();
                assert_eq!(names.first().map(String::as_str), Some("state"));
                assert_eq!(names.last().map(String::as_str), Some("end"));
            });
        }
        serves(&server);
    });
    let states = server.metric("plan_states_total");
    assert!(
        (1.0..=f64::from(WATCHERS) / 4.0).contains(&states),
        "{states} states"
    );
    serves(&server);
}

/// A small plan does not fill the disk: the run is ended, and its completed steps are rolled back.
#[test]
fn a_run_records_no_more_than_it_may() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let before = |at: u32| match at {
        0 => "booked".to_owned(),
        at => format!("s{}", at - 1),
    };
    let again = |at: u32| json!({"id": format!("s{at}"), "after": [before(at)], "tool": "slow", "arguments": {"ms": 0, "text": "$ref:first"}});
    let mut steps = vec![
        json!({"id": "booked", "tool": "event_book", "arguments": {"title": "offsite", "day": "2026-11-27"}}),
        json!({"id": "back", "tool": "event_cancel", "arguments": {"id": "$ref:booked.id"}, "undo": "booked"}),
        json!({"id": "first", "tool": "slow", "arguments": {"ms": 0, "text": "x".repeat(100_000)}}),
    ];
    steps.extend((0..500).map(again));
    let plan = json!({"steps": steps, "output_steps": ["booked"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let run = server.ended(&id);
    assert_eq!(run["state"], "failed", "{run}");
    let error = run["error"].as_str().unwrap();
    assert!(
        error.contains("8 MiB") && error.contains("`run::Limits::recorded`"),
        "{error}"
    );
    assert_eq!(
        run["undone"][0],
        json!({"path": "back", "undoes": "booked", "status": "completed"})
    );
    let bytes = support::bytes(folder.path());
    assert!(bytes < 64 << 20, "{bytes}");
    serves(&server);
}

/// The second server of a folder exits with an error, and the lock of a killed server does not remain.
#[test]
fn a_folder_has_one_server() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_plan-server"))
        .args(["--address", "127.0.0.1:0", "--data"])
        .arg(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let second = support::output_within(second, PATIENCE);
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(!second.status.success(), "{said}");
    assert!(
        said.contains("another server uses this folder") && said.contains("--data"),
        "{said}"
    );
    serves(&server);
    server.kill();
    serves(&Process::start(&folder));
}

/// A request whose client has gone away occupies no slot in the queue.
#[test]
fn clients_that_go_away_take_no_place() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let token = format!("authorization: Bearer {}\r\n", server.token);
    let step = r#"{"tool": "email_read", "params": {"id": "${step[0].data[0].id}"}}"#;
    let steps = format!(", {step}").repeat(2_000);
    let text = format!(r#"{{"steps": [{{"tool": "emails_list", "params": {{}}}}{steps}]}}"#);
    let check = json!({"text": text}).to_string();
    for _ in 0..3 {
        let mut open = Vec::new();
        for _ in 0..200 {
            let mut stream = connect(&server);
            stream
                .write_all(&request("POST", "/api/check", &token, &check))
                .unwrap();
            open.push(stream);
        }
        // Some of them are read, and the others wait for their turn.
        thread::sleep(Duration::from_millis(500));
        drop(open);
    }
    let (began, mut last) = (Instant::now(), 0);
    while began.elapsed() < PATIENCE {
        last = server.post("/api/check", &json!({"text": "[]"})).0;
        if last == 200 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(last, 200);
    serves(&server);
}

#[test]
fn a_run_has_limits() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    // 100,000 elements of nothing are more than a run may have, and 10,000 calls as well.
    let list: Vec<u32> = (0..10_001).collect();
    let plan = json!({"steps": [{"id": "all", "for": {"pattern": "x", "list": list, "body": {"tool": "emails_list", "arguments": {}}}}], "output_steps": ["all"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    serves(&server);
    let run = server.ended(&id);
    assert_eq!(run["state"], "failed");
    serves(&server);
}
