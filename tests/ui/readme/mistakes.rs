use mail::{FetchEmails, Filters, Receipt, ReplyEmail};
use plan_runtime::plan;

plan! {
    /// Replies to the most recent e-mail from a sender.
    pub ReplyToLatest(sender: String, reply: String) -> Receipt {
        /// Find the sender's e-mails.
        step inbox = FetchEmails { filters: Filters { sender } };

        #[after(logged)]
        step sent = ReplyEmail {
            thread_id: inbox.data[0].threadId,
            to: inbox.data[0].from,
            subject: format!("Re: {}", inbx.data[0].subject),
            boddy: reply,
        };

        step logged = ReplyEmail { thread_id: sent.id, to: "log", subject: "sent", body: reply };

        sent
    }
}

fn main() {}

mod mail {
    use plan_runtime::{Result, Shape, tool};
    use serde::{Deserialize, Serialize};

    pub struct Mail;

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Filters {
        pub sender: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Person {
        pub email: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    #[serde(rename_all = "camelCase")]
    pub struct Email {
        pub thread_id: String,
        pub from: Person,
        pub reply_to: Option<Person>,
        pub subject: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Inbox {
        pub data: Vec<Email>,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Receipt {
        pub id: String,
    }

    /// Finds e-mails that match the filters.
    #[tool]
    pub async fn fetch_emails(_mail: &Mail, filters: Filters) -> Result<Inbox> {
        unimplemented!("{}", filters.sender)
    }

    /// Replies to an e-mail.
    #[tool]
    pub async fn reply_email(
        _mail: &Mail,
        thread_id: String,
        to: String,
        subject: String,
        body: String,
    ) -> Result<Receipt> {
        unimplemented!("{thread_id} {to} {subject} {body}")
    }
}
