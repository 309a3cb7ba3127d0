"""What holds for all of the code: every operation is finished, everything published is described, the rules of the code are followed."""
