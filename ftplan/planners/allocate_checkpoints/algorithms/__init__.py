"""Where does the checkpoint of each key group go? ([Madsen2015])"""
