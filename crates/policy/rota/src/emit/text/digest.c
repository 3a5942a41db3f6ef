/* Of the text before this line: a loader knows by it whether an object is of its policy. */
RODATA u64 text_digest = @DIGEST@ULL;
