//! A list that comes in pages: each page names the next one, and the output is one list.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use support::{TokioTimer, World, show};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Issue {
    title: String,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Page {
    issues: Vec<Issue>,
    next: Option<u32>,
}

/// Lists the issues of a repository, two at a time.
#[tool]
async fn list_issues(world: &World, repo: String, cursor: Option<u32>) -> Result<Page> {
    let page = cursor.unwrap_or(1);
    world.call(format!("page {page} of {repo}")).await?;
    let issue = |number: u32| Issue {
        title: format!("{repo}#{number}"),
    };
    let is_last = page == 3 && repo != "endless";
    Ok(Page {
        issues: vec![issue(page * 2 - 1), issue(page * 2)],
        next: (!is_last).then_some(page + 1),
    })
}

plan! {
    /// Lists all issues of a repository.
    AllIssues(repo: String) -> Vec<Issue> {
        #[at_most(100)] #[collect]
        step pages = loop |last| {
            step page = ListIssues { repo, cursor: last?.next };
            page
        } while page.next.is_some();
        pages.iter().flat_map(|p| p.issues.clone()).collect()
    }
}

mod by_hand {
    use super::*;
    use plan_runtime::Error;

    pub(crate) async fn all_issues(world: &World, repo: String) -> Result<Vec<Issue>> {
        let mut issues = Vec::new();
        let mut cursor = None;
        for _ in 0..100 {
            let page = list_issues(world, repo.clone(), cursor).await?;
            issues.extend(page.issues);
            cursor = page.next;
            if cursor.is_none() {
                return Ok(issues);
            }
        }
        Err(Error::permanent("more than 100 pages").with_code("TOO_MANY_ROUNDS"))
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", AllIssues::PLAN);
    let scenarios = [
        ("all is well", "plan", World::default()),
        (
            "a page is not there",
            "plan",
            World::default().breaks("page 2", "not found"),
        ),
        ("the pages do not end", "endless", World::default()),
    ];
    for (title, repo, world) in scenarios {
        let all = AllIssues { repo: repo.into() };
        let run = all.run(&world).timer(TokioTimer).with_report().await;
        let by_hand = by_hand::all_issues(&world, repo.into()).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;

    async fn outcome(world: impl Fn() -> World, repo: &str) -> Done<Vec<Issue>> {
        both(
            world,
            async |world| {
                let all = AllIssues { repo: repo.into() };
                Ok(all.run(world).timer(TokioTimer).await?)
            },
            async |world| by_hand::all_issues(world, repo.into()).await,
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn pages_are_followed_to_the_last() {
        let done = outcome(World::default, "plan").await;
        let issues = done.output.unwrap();
        assert_eq!(issues.len(), 6);
        assert_eq!(issues[5].title, "plan#6");
        assert_eq!(
            done.calls,
            ["page 1 of plan", "page 2 of plan", "page 3 of plan"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_fails_fails_the_list() {
        let done = outcome(|| World::default().breaks("page 2", "not found"), "plan").await;
        assert_eq!(done.output, Err("not found".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn pages_that_do_not_end_are_an_error() {
        let done = outcome(World::default, "endless").await;
        assert_eq!(done.calls.len(), 100);
        assert_eq!(done.output, Err("TOO_MANY_ROUNDS".into()));
    }
}
