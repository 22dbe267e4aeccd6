"""What happens on a peer ring when nodes fail ([Kumbhare2015], V-C, V-D and VII).

The next live node clockwise takes the tokens of a run of dead nodes over, replays what it kept, and copies are made
again. ``takeover`` does that for the failure that is asked for; ``recovery`` for the loss of each single
node, and it has the times: ready = detection + fixed part + N / replay rate, N = rate x (age of the last checkpoint +
detection + 2 L_n). ``estimates`` states memory, traffic and the worst times.
"""
