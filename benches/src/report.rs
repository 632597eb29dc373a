//! What was measured, as Markdown: figures, and the goals as ratios within a round.

use std::fmt;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::measure::{Line, median};

/// Contestants that were measured side by side.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What the figures are.
    pub(crate) unit: &'static str,
    pub(crate) lines: Vec<Line>,
    pub(crate) goals: Vec<Goal>,
}

/// What one contestant should be, beside another.
#[derive(Debug)]
pub(crate) struct Goal {
    pub(crate) of: &'static str,
    /// None for a bound on the figure itself.
    pub(crate) over: Option<&'static str>,
    pub(crate) bound: Bound,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtMost(f64),
    /// Above the other by so much at most.
    Within(f64),
    AtLeast(f64),
}

impl Section {
    fn figures(&self, name: &str) -> &[f64] {
        let line = self.lines.iter().find(|line| line.name == name);
        &line.expect("a goal names contestants of its section").figures
    }

    fn goal_row(&self, goal: &Goal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.figures(goal.of);
        let beside = |over, with: fn((&f64, &f64)) -> f64| of.iter().zip(self.figures(over)).map(with).collect();
        let (name, values, sign) = match (goal.over, goal.bound) {
            (Some(over), Bound::Within(_)) => {
                (format!("{} - {over}", goal.of), beside(over, |(of, over)| of - over), "")
            }
            (Some(over), _) => (format!("{} / {over}", goal.of), beside(over, |(of, over)| of / over), "x"),
            (None, _) => (goal.of.to_owned(), of.to_vec(), ""),
        };
        let middle = median(&values);
        let (bound, met) = match goal.bound {
            Bound::AtMost(bound) | Bound::Within(bound) => (format!("<= {bound}{sign}"), middle <= bound),
            Bound::AtLeast(bound) => (format!(">= {bound}{sign}"), middle >= bound),
        };
        let verdict = if met { "met" } else { "**missed**" };
        writeln!(f, "| {name} | {} | {bound} | {verdict} |", Spread { values: &values, sign })
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "### {}\n", self.title)?;
        if !self.goals.is_empty() {
            writeln!(f, "| ratio | median (min-max) | goal | |\n|---|---|---|---|")?;
            self.goals.iter().try_for_each(|goal| self.goal_row(goal, f))?;
            writeln!(f)?;
        }
        writeln!(f, "| {} | median (min-max) |\n|---|---|", self.unit)?;
        for line in &self.lines {
            writeln!(f, "| {} | {} |", line.name, Spread { values: &line.figures, sign: "" })?;
        }
        Ok(())
    }
}

/// Median, lowest and highest.
struct Spread<'a> {
    values: &'a [f64],
    sign: &'static str,
}

impl fmt::Display for Spread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (middle, sign) = (median(self.values), self.sign);
        write!(f, "{}{sign} ({}-{})", short(middle), short(low), short(high))
    }
}

/// About three digits: more of them would be noise.
fn short(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2}")
    } else if value < 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// On what machine, and how busy it is.
pub(crate) fn machine(rounds: usize) -> Result<String> {
    let info = fs::read_to_string("/proc/cpuinfo").context("the processor is not told")?;
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).map_or("unknown", trim_key);
    let cores = std::thread::available_parallelism()?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let rustc = Command::new("rustc").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    Ok(format!(
        "{model}, {cores} cores, Linux {}, {}; {rounds} rounds. Load average at the start: {}.\n",
        kernel.trim(),
        String::from_utf8_lossy(&rustc).trim(),
        load_average()?,
    ))
}

fn trim_key(rest: &str) -> &str {
    rest.trim_start_matches([' ', '\t', ':'])
}

pub(crate) fn load_average() -> Result<String> {
    let text = fs::read_to_string("/proc/loadavg").context("the load is not told")?;
    Ok(text.split(' ').take(3).collect::<Vec<_>>().join(" "))
}
