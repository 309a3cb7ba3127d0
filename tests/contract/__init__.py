"""What holds for all of the code: every operation is finished, everything published is described, the house rules are kept."""
