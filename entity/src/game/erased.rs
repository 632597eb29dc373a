//! A part without its type: what a body holds.

use std::any::Any;
use std::fmt::Debug;

use serde_json::Value;

use super::behaviour::{Behaviour, Destination, Entry, Leave, MoveFailed, ReturnedMessage};
use super::context::Context;
use super::number::PartNumber;
use super::part::Part;
use crate::codec::{self, EncodeError};

/// A part of any type.
pub(crate) trait AnyPart: Any + Debug + Send {
    fn number(&self) -> PartNumber;
    fn name(&self) -> &'static str;
    fn version(&self) -> u16;
    fn persistent(&self) -> &'static [&'static str];
    fn encode(&self, bytes: &mut Vec<u8>) -> Result<(), EncodeError>;
    fn to_value(&self) -> Result<Value, serde_json::Error>;
    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String>;
    fn leaving(&mut self, to: &Destination, cx: &mut Context<'_>) -> Leave;
    fn hook(&mut self, hook: &Hook<'_>, cx: &mut Context<'_>);
}

/// A turn in an entity's life that all of its parts hear of; see [`Behaviour`].
#[derive(Clone, Copy, Debug)]
pub enum Hook<'h> {
    /// It is in a scene.
    EnterScene(&'h Entry),
    /// It came from another scene.
    Arrived,
    /// A move came to nothing.
    MoveFailed(&'h MoveFailed),
    /// It takes messages from here on.
    Activate,
    /// It takes no more messages.
    Deactivate,
    /// It leaves the scene.
    LeaveScene,
    /// The target has taken over.
    Left,
    /// A message came back.
    Returned(&'h ReturnedMessage),
}

impl Hook<'_> {
    /// Its name in [`Behaviour`].
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::EnterScene(_) => "on_enter_scene",
            Self::Arrived => "arrived",
            Self::MoveFailed(_) => "move_failed",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::LeaveScene => "on_leave_scene",
            Self::Left => "left",
            Self::Returned(_) => "returned",
        }
    }

    /// Whether the part that was added last hears of it first.
    pub(crate) fn is_backward(&self) -> bool {
        match self {
            Self::Deactivate | Self::LeaveScene | Self::Left => true,
            Self::EnterScene(_) | Self::Arrived | Self::MoveFailed(_) | Self::Activate | Self::Returned(_) => false,
        }
    }
}

impl<P: Part> AnyPart for P {
    fn number(&self) -> PartNumber {
        P::number()
    }

    fn name(&self) -> &'static str {
        P::NAME
    }

    fn version(&self) -> u16 {
        P::VERSION
    }

    fn persistent(&self) -> &'static [&'static str] {
        P::PERSISTENT
    }

    fn encode(&self, bytes: &mut Vec<u8>) -> Result<(), EncodeError> {
        codec::append_part(self, bytes)
    }

    fn to_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        Behaviour::init(self, cx)
    }

    fn leaving(&mut self, to: &Destination, cx: &mut Context<'_>) -> Leave {
        Behaviour::leaving(self, to, cx)
    }

    fn hook(&mut self, hook: &Hook<'_>, cx: &mut Context<'_>) {
        match hook {
            Hook::EnterScene(entry) => self.on_enter_scene(entry, cx),
            Hook::Arrived => self.arrived(cx),
            Hook::MoveFailed(why) => self.move_failed(why, cx),
            Hook::Activate => self.activate(cx),
            Hook::Deactivate => self.deactivate(cx),
            Hook::LeaveScene => self.on_leave_scene(cx),
            Hook::Left => self.left(cx),
            Hook::Returned(back) => self.returned(back, cx),
        }
    }
}

/// The part as its own type, if it is of that.
pub(crate) fn downcast<P: Part>(part: &dyn AnyPart) -> Option<&P> {
    (part as &dyn Any).downcast_ref()
}

/// The part as its own type, to change, if it is of that.
pub(crate) fn downcast_mut<P: Part>(part: &mut dyn AnyPart) -> Option<&mut P> {
    (part as &mut dyn Any).downcast_mut()
}
