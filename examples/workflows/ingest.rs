//! Indexing of pages for search: each page is fetched, split and stored. Some pages cannot be fetched. The others are stored, and the
//! output contains the reason for each missing page.

mod support;

use plan_runtime::{Failure, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use support::{TokioTimer, World, show};

#[derive(Serialize, Deserialize, Shape)]
struct Page {
    text: String,
}

/// Fetches a page.
#[tool]
async fn fetch_page(world: &World, url: String) -> Result<Page> {
    world.call(format!("fetch {url}")).await?;
    let text = format!("The first sentence of {url}. The second one.");
    Ok(Page { text })
}

/// Splits a text into parts that are short enough to be searched.
#[tool]
async fn chunk(text: String) -> Result<Vec<String>> {
    Ok(text.split_inclusive(". ").map(Into::into).collect())
}

/// Stores the parts of a page, with an index of their meanings. Returns the number of parts.
#[tool]
async fn store(world: &World, url: String, chunks: Vec<String>) -> Result<u64> {
    world
        .call(format!("store {} of {url}", chunks.len()))
        .await?;
    Ok(chunks.len() as u64)
}

plan! {
    /// Makes pages searchable.
    Ingest(urls: Vec<String>, parallel: usize) -> Vec<Result<u64, Failure>> {
        #[concurrency(parallel)] #[catch(each)]
        step pages = for url in urls {
            #[retry(3)]
            step page = FetchPage { url };
            step chunks = Chunk { text: page.text };
            Store { url, chunks }
        };
        pages
    }
}

mod by_hand {
    use super::support::by_hand::attempts;
    use super::*;
    use backon::Retryable;
    use futures_util::{StreamExt, stream};
    use plan_runtime::Error;

    pub(crate) async fn ingest(
        world: &World,
        urls: Vec<String>,
        parallel: usize,
    ) -> Vec<Result<u64>> {
        let pages = urls.into_iter().enumerate();
        let pages = pages.map(async |(index, url)| (index, one(world, url).await));
        // `buffered` would keep the order, but starts no page while an earlier one runs for longer.
        let pages = stream::iter(pages).buffer_unordered(parallel);
        let mut pages: Vec<_> = pages.collect().await;
        pages.sort_by_key(|(index, _)| *index);
        pages.into_iter().map(|(_, result)| result).collect()
    }

    async fn one(world: &World, url: String) -> Result<u64> {
        let page = (|| fetch_page(world, url.clone()))
            .retry(attempts(3))
            .when(Error::is_transient)
            .await?;
        let chunks = chunk(page.text).await?;
        store(world, url, chunks).await
    }
}

fn urls() -> Vec<String> {
    ["a", "b", "c", "d", "e"].map(Into::into).into()
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", Ingest::PLAN);
    let scenarios = [
        ("all is well", World::default()),
        (
            "one page is not there",
            World::default().breaks("fetch b", "not found"),
        ),
    ];
    for (title, world) in scenarios {
        let ingest = Ingest {
            urls: urls(),
            parallel: 2,
        };
        let run = ingest.run(&world).timer(TokioTimer).with_report().await;
        show(title, run, by_hand::ingest(&world, urls(), 2).await);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;

    async fn outcome(world: impl Fn() -> World) -> Done<Vec<Result<u64, String>>> {
        both(
            world,
            async |world| {
                let ingest = Ingest {
                    urls: urls(),
                    parallel: 2,
                };
                let pages = ingest.run(world).timer(TokioTimer).await?;
                let pages = pages.into_iter();
                Ok(pages.map(|it| it.map_err(|it| it.message)).collect())
            },
            async |world| {
                let pages = by_hand::ingest(world, urls(), 2).await.into_iter();
                Ok(pages.map(|it| it.map_err(|it| it.to_string())).collect())
            },
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn all_is_well() {
        let done = outcome(World::default).await;
        assert_eq!(done.output, Ok(vec![Ok(2); 5]));
        assert_eq!(done.most_open, 2);
        assert_eq!(done.took.as_secs(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_fails_is_one_failure() {
        let world = || World::default().breaks("fetch b", "not found");
        let done = outcome(world).await;
        let missing = Err("not found".to_owned());
        assert_eq!(done.output, Ok(vec![Ok(2), missing, Ok(2), Ok(2), Ok(2)]));
        assert_eq!(done.calls.len(), 9);
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_page_is_fetched_again() {
        let done = outcome(|| World::default().busy("fetch b", 2)).await;
        assert_eq!(done.output, Ok(vec![Ok(2); 5]));
        let done = outcome(|| World::default().busy("fetch b", 3)).await;
        assert_eq!(done.output.unwrap()[1], Err("busy".into()));
    }
}
