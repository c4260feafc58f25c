// What the browser runs first, and no more than that: the machine's thread begins, then the page is loaded.
import "./first";

void import("./main");
