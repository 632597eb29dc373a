//! Labels that more than one entity would wear.

use std::time::Duration;

use slipgate_entity::game::{Context, Spawn, Types};
use slipgate_macros::{Entity, Message, handlers};

use crate::block_on;
use crate::cluster::{Cluster, ProblemKind, SpawnError};

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Nest {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Hatch {}

#[handlers(crate = "slipgate_entity")]
impl Nest {
    #[from(cluster)]
    fn hatch(&mut self, Hatch {}: Hatch, cx: &mut Context<'_>) {
        cx.spawn(Spawn::of::<Nest>().label("twin"));
    }
}

#[test]
fn game_code_may_give_a_label_twice_and_then_it_names_nobody_and_is_refused_to_others() {
    block_on(async {
        let types = Types::builder().entity::<Nest>().build().expect("types");
        let builder = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]).types(types);
        let cluster = builder.start().await.expect("a cluster");
        for scene in ["forest", "harbor"] {
            cluster.scene(scene).spawn(Nest {}).await.expect("spawned").send(Hatch {}).await.expect("applied");
        }
        // Whom game code spawns has a number a little later.
        let ambiguous = async {
            loop {
                match cluster.find("twin").await {
                    Err(problem) if problem.reason == "ambiguous" => break problem,
                    Ok(_) | Err(_) => {}
                }
            }
        };
        let problem = tokio::time::timeout(Duration::from_secs(10), ambiguous).await.expect("both hatch");
        assert_eq!(problem.kind, ProblemKind::Usage);
        assert_eq!(problem.text, "\"twin\" names several entities: 1.1 (twin), 2.1 (twin)");
        let refused = cluster.scene("harbor").spawn(Nest {}).label("twin").await.expect_err("it is worn");
        let SpawnError::Refused(problem) = refused else { panic!("expected the desk to refuse, found {refused}") };
        assert_eq!((problem.kind, problem.reason.as_str()), (ProblemKind::Refused, "label_taken"));
        assert_eq!(problem.text, "the label \"twin\" is worn already, by 1.1 in forest@n1 and 1 more");
        cluster.stop().await.expect("a clean end");
    });
}
