//! What an entity is, as bits: asked about without its type.
//!
//! | bits | whose |
//! |---|---|
//! | 0 to 13 | named below |
//! | 14 to 31 | kept for names to come |
//! | 32 to 63 | the game's own, [`Flags::GAME`] |
//!
//! Flags travel with their entity. Those of a new one are its type's and its type's parents'.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Sixty-four bits of an entity.
///
/// ```
/// use slipgate_entity::game::Flags;
/// const ON_FIRE: Flags = Flags::game(0);
/// let flags = Flags::DEFAULT.with(Flags::IS_PLAYER).with(ON_FIRE);
/// assert!(flags.has(Flags::IS_PLAYER) && !flags.has(Flags::IS_DEAD));
/// assert_eq!(flags.without(ON_FIRE).to_string(), "is_player|support_migrate");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Flags(pub u64);

impl Flags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// Clients are shown it. Decides nothing as long as there are no clients.
    pub const IS_CLIENT_VISIBLE: Self = Self(1);
    /// It is dead, but still there.
    pub const IS_DEAD: Self = Self(1 << 1);
    /// A player.
    pub const IS_PLAYER: Self = Self(1 << 2);
    /// A monster.
    pub const IS_MONSTER: Self = Self(1 << 3);
    /// A trap.
    pub const IS_TRAP: Self = Self(1 << 4);
    /// It is found from everywhere, by its name: [`Context::global`](super::Context::global).
    pub const IS_GLOBAL: Self = Self(1 << 5);
    /// It fights.
    pub const IS_COMBAT: Self = Self(1 << 6);
    /// A copy at the border of another scene. Nothing sets it yet.
    pub const IS_GHOST: Self = Self(1 << 7);
    /// It may have ghosts. Nothing asks for it yet.
    pub const SUPPORT_GHOST: Self = Self(1 << 8);
    /// It may move to another scene.
    pub const SUPPORT_MIGRATE: Self = Self(1 << 9);
    /// The number of those who see it is limited. Nothing asks for it yet.
    pub const SUPPORT_AOI_MAX_LIMIT: Self = Self(1 << 10);
    /// On a client: the player's own.
    pub const IS_MAIN_PLAYER: Self = Self(1 << 11);
    /// On a client: somebody else's.
    pub const IS_OTHER_PLAYER: Self = Self(1 << 12);
    /// A player that only watches.
    pub const IS_OBSERVER_PLAYER: Self = Self(1 << 13);
    /// The bits that are the game's own.
    pub const GAME: Self = Self(!0 << 32);
    /// Those of a type that says nothing: it may move.
    pub const DEFAULT: Self = Self::SUPPORT_MIGRATE;

    /// Bit number `bit` of the game's own, 0 to 31.
    ///
    /// # Panics
    ///
    /// If `bit` is above 31; in a `const`, at compile time.
    #[must_use]
    pub const fn game(bit: u32) -> Self {
        assert!(bit < 32, "a game has 32 flags of its own, numbered 0 to 31");
        Self(1 << (32 + bit))
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the bits of `other` set.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// With the bits of `other` cleared.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Names of the bits that are set, in order; those without a name as `bit_40`.
    pub fn names(self) -> impl Iterator<Item = String> {
        (0..u64::BITS)
            .filter(move |bit| self.0 >> bit & 1 == 1)
            .map(|bit| NAMES.get(bit as usize).map_or_else(|| format!("bit_{bit}"), |&name| name.to_owned()))
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join("|"))
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// In the order of the bits.
const NAMES: [&str; 14] = [
    "is_client_visible",
    "is_dead",
    "is_player",
    "is_monster",
    "is_trap",
    "is_global",
    "is_combat",
    "is_ghost",
    "support_ghost",
    "support_migrate",
    "support_aoi_max_limit",
    "is_main_player",
    "is_other_player",
    "is_observer_player",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourteen_names_stand_at_their_bits() {
        let named = [
            Flags::IS_CLIENT_VISIBLE,
            Flags::IS_DEAD,
            Flags::IS_PLAYER,
            Flags::IS_MONSTER,
            Flags::IS_TRAP,
            Flags::IS_GLOBAL,
            Flags::IS_COMBAT,
            Flags::IS_GHOST,
            Flags::SUPPORT_GHOST,
            Flags::SUPPORT_MIGRATE,
            Flags::SUPPORT_AOI_MAX_LIMIT,
            Flags::IS_MAIN_PLAYER,
            Flags::IS_OTHER_PLAYER,
            Flags::IS_OBSERVER_PLAYER,
        ];
        for (bit, (flag, name)) in named.into_iter().zip(NAMES).enumerate() {
            assert_eq!((flag.0, flag.to_string().as_str()), (1 << bit, name));
        }
    }

    #[test]
    fn a_games_own_flags_stand_above_the_named_ones_and_print_by_number() {
        assert_eq!(Flags::game(0).0, 1 << 32);
        assert!(Flags::GAME.has(Flags::game(31)) && !Flags::GAME.has(Flags::IS_OBSERVER_PLAYER));
        assert_eq!(Flags::game(8).to_string(), "bit_40");
    }

    #[test]
    fn a_flag_is_set_cleared_and_asked_for_alone() {
        let flags = Flags::NONE.with(Flags::IS_DEAD).with(Flags::IS_TRAP);
        assert!(flags.has(Flags::IS_DEAD.with(Flags::IS_TRAP)));
        assert!(!flags.without(Flags::IS_DEAD).has(Flags::IS_DEAD.with(Flags::IS_TRAP)));
        assert!(flags.without(Flags::IS_DEAD).has(Flags::IS_TRAP) && flags.has(Flags::NONE));
    }
}
