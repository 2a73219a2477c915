//! Calls for each of 200 images, 16 at a time. With `--features progress` and at a terminal, bars show the progress.

use plan_runtime::{Error, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::sleep;

#[derive(Serialize, Deserialize, Shape)]
struct Picture {
    number: u64,
    file: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Thumbnail {
    file: String,
    bytes: u64,
}

/// Lists the pictures of an album.
#[tool]
async fn list_pictures(album: String, count: u64) -> Result<Vec<Picture>> {
    sleep(Duration::from_millis(200)).await;
    let picture = |number| Picture {
        number,
        file: format!("{album}/{number:03}.png"),
    };
    Ok((1..=count).map(picture).collect())
}

/// Shrinks a picture. One of the files is not a picture.
#[tool]
async fn shrink(file: String, number: u64) -> Result<Thumbnail> {
    sleep(Duration::from_millis(40 + number * 37 % 160)).await;
    if number == 133 {
        return Err(Error::permanent("this is not a PNG"));
    }
    Ok(Thumbnail {
        file: file.replace(".png", ".thumb.png"),
        bytes: 1000 + number * 7919 % 4000,
    })
}

/// Writes a page with all thumbnails.
#[tool]
async fn write_page(title: String, files: Vec<String>) -> Result<String> {
    sleep(Duration::from_millis(200)).await;
    Ok(format!("`{title}` with {} thumbnails", files.len()))
}

plan! {
    /// Makes a page of small pictures.
    Gallery(album: String, count: u64) -> (String, u64) {
        /// Look into the album.
        step pictures = ListPictures { album, count };

        /// Make them small.
        #[concurrency(16)]
        #[optional(each)]
        step thumbnails = for picture in pictures {
            Shrink { file: picture.file, number: picture.number }
        };

        // An element that failed is `None`: the step is a `Vec<Option<Thumbnail>>`.
        /// Put them on a page.
        step page = WritePage {
            title: album,
            files: thumbnails.iter().flatten().map(|it| it.file.clone()).collect(),
        };

        (page, thumbnails.iter().flatten().map(|it| it.bytes).sum())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let gallery = Gallery {
        album: "lisbon".into(),
        count: 200,
    };
    let run = gallery.run(&());

    #[cfg(feature = "progress")]
    let run = run.observe(plan_runtime::run::Progress::new());

    let (result, report) = run.with_report().await;
    let (page, bytes) = result?;
    println!(
        "{page}, {bytes} bytes\n\n{}",
        Terminal::stdout().report(&report)
    );
    Ok(())
}
