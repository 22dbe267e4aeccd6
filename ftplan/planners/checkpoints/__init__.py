"""Where does the checkpoint of each key group go? (Madsen & Zhou 2015)"""
