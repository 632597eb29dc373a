%% A node that casts to 64 servers of another; a batch of 64 is acknowledged as one.
-module(casting).
-behaviour(gen_server).
-export([receive_all/0, send_all/0, init/1, handle_call/3, handle_cast/2]).

receive_all() ->
    Servers = [element(2, gen_server:start_link(?MODULE, [], [])) || _ <- lists:seq(1, 64)],
    register(servers, spawn(fun() -> tell(Servers) end)),
    io:format("ready~n"),
    spawn(fun() -> until_eof() end).

tell(Servers) ->
    receive {servers, From} -> From ! Servers end,
    tell(Servers).

until_eof() ->
    case io:get_line("") of eof -> halt(); _ -> until_eof() end.

send_all() ->
    spawn(fun() ->
        {servers, 'receiver@localhost'} ! {servers, self()},
        Servers = receive Pids -> Pids end,
        io:format("ready~n"),
        orders(Servers)
    end).

orders(Servers) ->
    case io:get_line("") of
        eof -> halt();
        Line ->
            Batches = list_to_integer(string:trim(Line)) div 64,
            flood(Servers, binary:copy(<<1>>, 64), Batches, 0),
            io:format("done~n"),
            orders(Servers)
    end.

%% At most 16 batches are on the way.
flood(_, _, 0, 0) -> ok;
flood(Servers, Message, Left, Open) when Left > 0, Open < 16 ->
    [gen_server:cast(Server, Message) || Server <- Servers],
    gen_server:cast(lists:last(Servers), {applied, self()}),
    flood(Servers, Message, Left - 1, Open + 1);
flood(Servers, Message, Left, Open) ->
    receive applied -> flood(Servers, Message, Left, Open - 1) end.

init([]) -> {ok, 0}.

handle_call(_, _, Count) -> {reply, Count, Count}.

handle_cast({applied, From}, Count) -> From ! applied, {noreply, Count};
handle_cast(<<First, _/binary>>, Count) -> {noreply, Count + First}.
