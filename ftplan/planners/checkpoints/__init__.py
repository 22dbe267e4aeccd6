"""Where does the checkpoint of each key group go? (paper 000)"""
