//! What is sent to a run with a journal from outside.

use super::super::messages::Messages;
use super::Schedule;
use crate::error::Interrupt;
use std::task::Context;

impl Schedule<'_> {
    /// Takes what was sent to the run from outside.
    pub(super) fn receive(&mut self, cx: &mut Context<'_>) {
        let Some(durable) = self.run.durable.clone() else {
            return;
        };
        if !durable.is_live() {
            return;
        }
        let mut messages = match self.messages.take() {
            Some(messages) => messages,
            None => Box::new(Messages::new(&durable, self.signals())),
        };
        if messages.poll(&durable, cx) {
            self.interrupts.come(Interrupt::Cancelled);
        }
        self.messages = Some(messages);
    }
}
