// The first code that the browser runs, and no more than that: it starts the machine's thread, then loads the page.
import "./first";

void import("./main");
