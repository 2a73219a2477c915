//! Blocks: steps inside a step, a branch or an element.

use super::support::{Same, failed};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Failure, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use smol::block_on as done;
use std::sync::Mutex;

/// The calls, in order.
#[derive(Default)]
pub struct Log(Mutex<Vec<String>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    pub page_text: String,
    pub links: Vec<String>,
}

/// Fetches a page.
#[tool]
pub async fn fetch_page(log: &Log, url: String) -> Result<Page> {
    log.add(format!("fetch {url}"));
    smol::future::yield_now().await;
    if url.starts_with("bad") {
        return Err(Error::permanent(format!("no page {url}")).with_code("GONE"));
    }
    Ok(Page {
        page_text: format!("text of {url}"),
        links: vec![format!("{url}/1"), format!("{url}/2")],
    })
}

/// Stores a text.
#[tool]
pub async fn store(log: &Log, url: String, text: String) -> Result<u64> {
    log.add(format!("store {url}"));
    smol::future::yield_now().await;
    Ok(text.len() as u64)
}

/// Removes a text.
#[tool]
pub async fn remove(log: &Log, url: String) -> Result<()> {
    log.add(format!("remove {url}"));
    Ok(())
}

/// Says where it is called.
#[tool]
pub async fn locate(#[context] context: CallContext, of: String) -> Result<String> {
    Ok(format!("{}: {context} ({of})", context.plan()))
}

/// Fails as often as this.
#[tool]
pub async fn flaky(log: &Log, name: String, times: usize) -> Result<usize> {
    let line = format!("try {name}");
    log.add(&*line);
    let tried = log.0.lock().unwrap();
    let tried = tried.iter().filter(|other| **other == line).count();
    if tried <= times {
        return Err(Error::msg("busy"));
    }
    Ok(tried)
}

plan! {
    /// Stores pages.
    pub Ingest(urls: Vec<String>, prefix: String, parallel: usize) -> Vec<Result<u64, Failure>> {
        #[concurrency(parallel)]
        #[catch(each)]
        step pages = for url in urls {
            /// Look it up.
            #[retry(3)]
            step page = FetchPage { url };
            step text: String = format!("{prefix}{}", page.page_text);
            Store { url, text }
        };
        pages
    }
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

#[test]
fn an_element_goes_through_all_steps_of_its_block() {
    let log = Log::default();
    let urls = strings(&["a", "bad", "c"]);
    let run = |parallel| Ingest {
        urls: urls.clone(),
        prefix: "> ".into(),
        parallel,
    };
    let stored = done(run(1).run(&log)).unwrap();
    let lengths: Vec<_> = stored.iter().map(|it| it.as_ref().ok().copied()).collect();
    assert_eq!(lengths, [Some(11), None, Some(11)]);
    let failure = stored[1].as_ref().unwrap_err();
    assert_eq!(
        (&*failure.step, &*failure.code, &*failure.message),
        ("pages[1].page", "GONE", "no page bad")
    );
    assert_eq!(
        log.taken(),
        ["fetch a", "store a", "fetch bad", "fetch c", "store c"]
    );
    assert_eq!(done(run(3).run(&log)).unwrap().len(), 3);
}

plan! {
    Deep(urls: Vec<(String, usize)>, deep: bool) -> (usize, Option<usize>, Vec<String>) {
        step first = {
            step page = FetchPage { url: "x" };
            step total: usize = page.links.len() + urls.len();
            total
        };
        step other = if deep && let Some((url, size)) = urls.first() {
            step page = FetchPage { url };
            step inner = {
                step length: usize = page.page_text.len() + first + size;
                length
            };
            inner
        };
        step all = for (url, size) in urls {
            step page = FetchPage { url };
            step half: usize = size / 2 + page.links.len();
            step stored = for (place, link) in page.links.iter().enumerate() {
                step text: String = format!("{link}{half}{place}");
                step length = Store { url: link, text };
                step line: String = format!("{url} {link} {length} {size}");
                line
            };
            step joined: String = stored.join(", ");
            joined
        };
        (first, other, all)
    }
}

#[test]
fn blocks_see_all_names_around_them() {
    let log = Log::default();
    let urls = vec![("a".to_owned(), 7), ("b".to_owned(), 4)];
    let (first, other, all) = done(Deep { urls, deep: true }.run(&log)).unwrap();
    assert_eq!((first, other), (4, Some(20)));
    assert_eq!(all, ["a a/1 5 7, a a/2 5 7", "b b/1 5 4, b b/2 5 4"]);
}

plan! {
    Places(list: Vec<String>) -> (String, Vec<String>, String) {
        step one = {
            step here = Locate { of: "a step" };
            here
        };
        step many = for item in list {
            step inner = {
                Locate { of: item }
            };
            step more = for word in [item] { Locate { of: format!("{word} in {inner}") } };
            step joined: String = more.concat();
            joined
        };
        step last = if many.len() > 1 { step tail = Locate { of: "a branch" }; tail } else { Locate { of: "no block" } };
        (one, many, last)
    }
}

#[test]
fn calls_in_blocks_have_paths() {
    let words = strings(&["p", "q"]);
    let (one, many, last) = done(Places { list: words }.run(&())).unwrap();
    assert_eq!(one, "places: one.here (a step)");
    assert_eq!(
        many,
        [
            "places: many[0].more[0] (p in places: many[0].inner (p))",
            "places: many[1].more[0] (q in places: many[1].inner (q))"
        ]
    );
    assert_eq!(last, "places: last.tail (a branch)");
}

plan! {
    Failing(url: String) -> u64 {
        step kept = {
            step page = FetchPage { url: "ok" };
            #[undo(page)]
            step removed = Remove { url: page.links[0] };
            step other = FetchPage { url };
            step stored = Store { url: "ok", text: other.page_text };
            #[always]
            step told = Remove { url: format!("told {}", stored.is_ok()) };
            stored
        };
        kept
    }
}

#[test]
fn a_block_is_all_or_nothing() {
    let log = Log::default();
    assert_eq!(done(Failing { url: "fine".into() }.run(&log)).unwrap(), 12);
    assert_eq!(
        log.taken(),
        ["fetch ok", "fetch fine", "store ok", "remove told true"]
    );
    let error = done(Failing { url: "bad".into() }.run(&log)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `failing` failed: step `kept.other` (fetch_page): no page bad (this blocked `kept.stored`); undone: `kept.page`"
    );
    assert_eq!(
        log.taken(),
        ["fetch ok", "fetch bad", "remove ok/1", "remove told false"]
    );
}

plan! {
    Again() -> (usize, Option<usize>, usize) {
        #[retry(3, backoff = "1ms")]
        step whole = {
            step before = Flaky { name: "before", times: 0 };
            #[after(before)]
        step times = Flaky { name: "whole", times: 2 };
            times
        };
        #[optional]
        step maybe = { step never = Flaky { name: "never", times: 9 }; never };
        #[fallback(7)]
        step replaced = { step never = Flaky { name: "neither", times: 9 }; never };
        (whole, maybe, replaced)
    }
}

#[test]
fn policies_are_about_the_whole_block() {
    let log = Log::default();
    let (whole, maybe, replaced) = done(Again {}.run(&log)).unwrap();
    assert_eq!((whole, maybe, replaced), (3, None, 7));
    let count = |log: &[String], name: &str| log.iter().filter(|line| *line == name).count();
    let log = log.taken();
    // All of its steps are repeated.
    assert_eq!(count(&log, "try before"), count(&log, "try whole"));
    assert_eq!(count(&log, "try never"), 1);
}

#[test]
fn blocks_are_data() {
    let plan = &**Ingest::PLAN;
    assert_eq!(
        plan.to_string(),
        "\
plan ingest -> Vec<Result<u64, Failure>>
  // Stores pages.
  input urls:     Vec<String>
  input prefix:   String
  input parallel: usize

  #[concurrency(parallel)]
  #[catch(each)]
  step pages = for url in urls {
    #[retry(3)]
    step page = fetch_page  // Look it up.
      url: url
    step text = format!(\"{}{}\", prefix, page.page_text)
      // needs page
    store
      url:  url
      text: text
  }
    // starts at once

  output pages
"
    );
    let json = serde_json::to_value(plan).unwrap();
    let block = &json["steps"][0]["for"]["body"]["block"];
    assert_eq!(
        block["inputs"]["prefix"]["reference"]["input"],
        json!("prefix")
    );
    assert_eq!(block["steps"][0]["id"], json!("page"));
    let read: plan_runtime::Plan =
        serde_json::from_str(&serde_json::to_string(plan).unwrap()).unwrap();
    assert_eq!(&read, plan);
}

#[test]
fn a_toolbox_runs_blocks() {
    let tools = Toolbox::<Log>::new()
        .with::<FetchPage>()
        .with::<Store>()
        .with::<Remove>();
    let log = Log::default();
    let inputs = json!({"urls": ["a", "bad"], "prefix": "", "parallel": 2});
    let output = done(tools.run(&**Ingest::PLAN, inputs, &log)).unwrap();
    assert_eq!(output[0], json!({"Ok": 9}));
    assert_eq!(output[1]["Err"]["step"], json!("pages[1].page"));
}

#[test]
fn a_call_in_a_block_that_is_not_allowed_is_named_by_its_path() {
    let plan = plan! {
        step outer = { step inner = { step one = Same::<u64> { value: 1 }; one }; inner };
        outer
    };
    assert_eq!(
        failed(plan.run(&()).allow_tools(["read.*"])),
        "plan `plan` cannot start: the run may not call `same`, which step `outer.inner.one` calls; it may call `read.*`"
    );
}
