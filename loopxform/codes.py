"""What every diagnostic code means: `loopxform explain LX101`."""

from __future__ import annotations

CODES: dict[str, str] = {
    "LX000": "A deliberate refusal that has no code of its own.",
    # the C file
    "LX001": "The file, a header or the C in it cannot be read. The place is where the parser or "
    "the preprocessor stopped; the mistake is there or just before.",
    "LX010": "A construct of C that is not modelled. It is never guessed at: the loops around it "
    "are 'unknown', the others are judged.",
    "LX011": "Control flow that leaves or repeats a loop in ways a for loop does not: while, do, "
    "switch, goto, labels, break, continue, and return before the end.",
    "LX012": "A call of a function whose effects are not known: it might write anything. The "
    "functions of <math.h> and <stdlib.h> that only compute are known.",
    "LX013": "A loop header that does not count an integer from a start to a bound in constant "
    "steps.",
    "LX014": "A subscript or pointer that does not name one element of one array.",
    "LX015": "A type or storage class that is not modelled: structs, jagged arrays, static locals, "
    "long double.",
    "LX016": "A volatile object or asm: every access counts, and none may move.",
    "LX017": "A side effect inside an expression.",
    "LX018": "A name that is not declared.",
    "LX019": "Unsigned arithmetic that may wrap around where a bound or a subscript needs a "
    "number.",
    # the command line and scripts
    "LX020": "A command line or a step that says nothing meaningful; the usage is in the help.",
    "LX021": "A step names a loop that the function does not have. Loops are named by their "
    "variable; `i#2` is the second loop over i, `i*` all of them.",
    "LX022": "A step names a loop by a variable that several loops count: say which, `i#2`.",
    "LX023": "Not a size or a value that the option takes: a tile is a positive whole number, a "
    "named tile size, or a product.",
    "LX024": "A new name that is taken, or is not a name in C.",
    "LX025": "A parameter of a step that it does not know.",
    "LX026": "A step, or an option, names an array or a size that the function does not have.",
    "LX030": "The tile needs more than the device has: work-items in a group, local memory, or "
    "registers. The formula is shown with its numbers.",
    "LX268": "Counters cannot be signed: sizes may be too large, or bounds wrap around.",
    "LX264": "A run needs arrays, and the program does not say how many elements they have.",
    "LX040": "The program is legal but cannot be written for the target asked for.",
    "LX050": "No OpenCL device, or a launch that failed.",
    "LX051": "No C compiler: `run` compiles your C as the reference, and kernels as C.",
    "LX052": "The file has no function of that name.",
    "LX053": "Several functions have loop nests: name one: --function, or file[NAME] in Python.",
    "LX054": "A size or an argument for the run is missing or cannot be.",
    "LX055": "A file or folder that cannot be written; nothing was written.",
    "LX056": 'A script of steps that cannot be read: JSON with "tiles" and "steps", as '
    "`tile --json` saves it.",
    "LX057": "Your C does not compile with the options given.",
    "LX058": "An argument that is missing or does not fit its parameter.",
    "LX059": "The device's compiler refused the kernel; its log is shown.",
    "LX060": "There is no loop nest to transform.",
    "LX061": "The function has statements besides one loop nest, which a kernel cannot replace.",
    "LX062": "No loop of the nest can run in parallel; `check` shows the dependence matrix.",
    "LX063": "The nest does not fit the recipe asked for; without a recipe one that fits is taken, "
    "or one work-item per iteration.",
    "LX064": "With the numbers given for a run your own C would touch memory beyond its arrays, or "
    "break a condition under which their shapes were recovered.",
    "LX065": "Elements of an array are used as subscripts or loop bounds, and which values keep "
    "every access inside its array could not be told, or the ones given do not: a run on random "
    "inputs would touch other memory. `run --input NAME=LOW:HIGH` gives the values.",
    "LX066": "An annotation of the source that says nothing meaningful, or stands where there is "
    "nothing to say it of: `#pragma loopxform`, `#pragma scop`.",
    "LX067": "The source says that this is left alone: `#pragma loopxform ignore`, or loops outside"
    " of `#pragma scop`.",
    "LX068": "A library was asked for, and the nest is not seen to be what it computes: a matrix "
    "product without factors, of matrices of one type, by loops that count from 0.",
    "LX069": "What a comparison needs is not there: a library, matplotlib, or a program that "
    "prints its milliseconds.",
    "LX071": "Only what C itself computes is permitted (`--fp strict`), and a function is called "
    "that devices compute in their own way.",
    "LX072": "A line of a tuning file (`NAME.tuning`) that says nothing meaningful: of another "
    "function, a parameter that there is not, no number, or another version of such files.",
    "LX073": "Measurements of `tune` that cannot be taken together: there are none, or they are of "
    "different texts, recipes, drivers or sizes.",
    "LX099": "A mistake of loopxform's own, met in one function; the rest of the file is judged. "
    "LOOPXFORM_TRACEBACK=1 in the environment shows where: please report it with the file.",
    # legality
    "LX100": "A step that may not be applied.",
    "LX101": "A dependence stands in the way. It is proven: the witness names two iterations that "
    "touch the same element, at least one of them writing it.",
    "LX102": "A dependence could not be excluded, nor proven.",
    "LX103": "Something in the loop is not modelled, so nothing can be proven about it.",
    "LX104": "The time or the memory given does not suffice, so nothing is proven.",
    "LX105": "The iterations of the loop are in order as it is written: data decide whether there "
    "is a next one, each computes a variable from its value before, or calls of the library must "
    "happen in turn. A search, a counter or a list has other forms that are parallel.",
    "LX110": "The two loops are not perfectly nested: a statement stands between them.",
    "LX111": "The bounds of the inner loop depend on the outer loop's variable, in a way in which "
    "they cannot be turned around.",
    "LX112": "The body writes what the bounds are computed from.",
    "LX113": "The two loops are not neighbours that provably have the same iterations; a witness "
    "names one that only one of them has.",
    "LX114": "A declaration of one loop would hide a name of the other.",
    "LX115": "The two loops cannot become one: they do not count from 0 by 1, the inner one has "
    "other bounds in other iterations, or the number of iterations may be too large.",
    "LX120": "There is nothing to distribute.",
    "LX121": "A variable declared in the loop is used on both sides of the cut: expand it first.",
    "LX122": "A variable declared among the statements is used outside of the loop around them.",
    "LX123": "There is no guard to distribute, or what it reads changes under it.",
    "LX124": "The statements behind a loop cannot be a further iteration of it.",
    "LX125": "The body of the loop is not that of several iterations, one after the other.",
    "LX126": "The loop behind another one is not the rest of its iterations.",
    "LX130": "The loop variable is read after the loop, so its last value must stay what it is.",
    "LX131": "The step needs a loop that counts upwards: normalise it first.",
    "LX132": "The loop is mapped to hardware already, or its iterations are a chain.",
    "LX133": "The number of iterations cannot be written as an expression.",
    "LX134": "The loop cannot be unrolled: its trip count is not a constant.",
    "LX135": "The loop does not go over tiles of one range.",
    "LX136": "The number of iterations is unsigned and may wrap around.",
    "LX137": "The last tile would end beyond the largest value of the loop variable's type.",
    "LX138": "The point at which a loop is split cannot be computed before it: it changes in the "
    "loop, has no value yet, or might overflow or divide by zero.",
    "LX139": "The point lies outside of the loop: one of the two parts would never run.",
    "LX140": "Not storage that the step can make private or expand.",
    "LX141": "The expanded storage would be shared by iterations that run in parallel.",
    "LX142": "A trip count is not known where the expanded array would be declared.",
    "LX143": "A variable may be read before it is written in an iteration: it carries a value.",
    "LX144": "A variable's last value is needed after the loop.",
    "LX145": "The extent of an array depends on what changes.",
    "LX146": "The storage cannot be declared further out.",
    "LX147": "The bounds of a loop cannot be made independent of the loops around it.",
    "LX148": "An array that may have more elements than the size that it is to get, or that other "
    "names stand for.",
    "LX150": "How much of an array is touched cannot be told.",
    "LX151": "The loop cannot be mapped to that level of the hardware.",
    "LX157": "The nest cannot read a copy of an array with dimensions that become one.",
    "LX158": "The nest cannot read packed copies of its arrays.",
    "LX159": "A loop cannot be pipelined with so many buffers, or in such a way.",
    "LX160": "The array is not read in that loop.",
    "LX161": "The array is written in that loop: a copy would go stale.",
    "LX162": "The part of the array that is read is not a box of fixed size.",
    "LX163": "A collective copy needs a loop that the whole group runs together.",
    "LX164": "The bounds of the array are not known: a copy might read past them.",
    "LX165": "The private copy might read past what the program touches.",
    "LX166": "The private copy might read past the staged one.",
    "LX167": "The layout of an array is changed before parts of it are staged.",
    "LX168": "Not an array that the function declares itself, in one place.",
    "LX169": "The array cannot lie in the local memory of a group.",
    "LX170": "A bounds check must stay: without it the program would do something else.",
    "LX171": "No padding is known with which the iterations past the end change nothing.",
    "LX172": "Versions for groups inside the grid and at its edge are made of the innermost loop "
    "over groups.",
    "LX173": "Whole tiles need every check that partial ones need: there would be one version.",
    "LX284": "Not a loop over tiles whose last one can begin earlier: it holds more than the loop "
    "over a tile, no tile is cut short, or it may have fewer iterations than a tile.",
    "LX285": "A statement that would run twice where the last tile begins earlier: it reads what "
    "other tiles store, or sets what is not its own.",
    "LX174": "No guard excludes all iterations of a group: every group may have something to do.",
    "LX175": "Not rows of vectors: a vector would end inside a row, or not begin on a multiple of "
    "its size.",
    "LX177": "Not a rectangle of work-items, or not a group of two dimensions.",
    "LX178": "No array in the nest is known to be numbered by an int: its rows are not declared, "
    "its subscripts are not proven to lie in it, it has one dimension, or too many elements.",
    "LX179": "The tiles of a loop cannot be fetched an iteration ahead.",
    "LX180": "The array is not written in the loop.",
    "LX181": "The loop uses more than one element of the array, or not the same one throughout.",
    "LX182": "Keeping the element in a scalar would not be safe.",
    "LX183": "No statement of the loop's body is the same in every iteration.",
    "LX184": "Hoisting would read or divide where the loop may have no iteration.",
    "LX185": "Not something that statements without loops compute in front of the loop for it.",
    "LX186": "What would be sunk into the loop, or what it is computed from, does not keep its "
    "value up to the loop's body.",
    "LX187": "What a loop reads of local tiles cannot be read an iteration ahead.",
    "LX188": "The elements of a tile are not converted to one other floating type.",
    "LX189": "Iterations of a loop cannot store several elements at once.",
    "LX190": "Not an induction variable: it must be an integer that one statement of the loop's "
    "body changes, by an amount that stays the same.",
    "LX191": "A reduction that gives another result in another order: floating-point operations "
    "round, and a sum of parts rounds elsewhere.",
    "LX192": "The loop does not consist of reductions whose partial results can be combined.",
    "LX193": "Not a grid of groups with two dimensions, each of one loop.",
    "LX194": "No tile of the nest would be filled from a copy with longer rows.",
    "LX195": "Not a number that a size of the function can be specialised for.",
    "LX196": "Not a condition that the host can ask before the function runs.",
    "LX197": "Two unrolled loops whose iterations cannot be walked there and back.",
    "LX198": "The elements of the work-items of a group cannot be dealt out in turns.",
    "LX199": "Not variants between which the host can choose.",
    "LX202": "The body of a loop does not consist of stages that can be computed along a stream of "
    "rows.",
    "LX203": "Not updates that devices have atomic functions for.",
    "LX254": "No stores of one value to elements of an array (`atomic-stores`).",
    "LX258": "No store to elements of an array of which the last one wins (`last-stores`), or one "
    "whose value cannot be computed apart.",
    "LX204": "Updates of an array that iterations cannot collect in arrays of their own.",
    "LX205": "No running values that can be computed in parts, apart from the rest of the loop.",
    "LX206": "No element of an array that one iteration stores and the next one reads.",
    "LX207": "No stores to an array that can wait for the end of the loop.",
    "LX208": "Not a tile of rows of which each begins where the one before it ends.",
    "LX209": "Not terms of rows that can be computed apart from the rows.",
    "LX213": "No chunks in a chain that can look back at the values which others pass on.",
    "LX214": "No array that can take the place of another.",
    "LX217": "No accesses of two loops that a tile of them can make in the other order.",
    "LX218": "No scalar of the loop's body that the element which it is stored to could hold.",
    "LX215": "No update of an array that can wait for the end of the loop.",
    "LX216": "No row of a summed-area table that is the sum of two rows.",
    "LX219": "No statement that can move behind those that follow it.",
    "LX221": "No loop in the body of another one that can become one loop with it (`flatten`).",
    "LX229": "No conditions that only choose what is stored.",
    "LX248": "No choice in a loop says what becomes of a scalar's own value (`branch-choice`).",
    "LX230": "No scalar of an iteration that another value could stand for.",
    "LX231": "No first iteration that conditions tell from the others.",
    "LX265": "Not two kernels that may be one (`join-kernels`).",
    "LX266": "No loop whose iterations can be computed in vectors (`simd`).",
    "LX267": "A loop that cannot run again where a quotient or a root was rare (`speculate`).",
    "LX272": "No quotients of floats by one divisor that can be computed together "
    "(`gather-quotients`).",
    "LX269": "No array that can be computed once more in front of a later nest (`recompute`).",
    "LX275": "No function of floats in double that only ends in floats (`narrow-functions`).",
    "LX274": "No branches that may run in loops of their own (`distribute-branches`).",
    "LX270": "No nests that may run in another order (`reorder-nests`).",
    "LX262": "No sum of products of floats that can be multiplied as bfloat16 (`split-floats`).",
    "LX252": "No product of register tiles that tensor units compute (`tensorise`).",
    "LX220": "Not nests of scores, a softmax of each row of them, and weighted values.",
    "LX250": "No element that a loop compares with the one at a place that it keeps "
    "(`if (a[k] > a[best]) best = k;`).",
    "LX259": "No tile of a matrix that is turned in registers (`turn-tile`).",
    "LX260": "No loop over the numbers of the elements of a matrix (t / m, t % m).",
    "LX261": "No loops that find the largest element of a row and sum up exponentials less that.",
    "LX263": "No read of an array that sees nothing of what its loop writes before.",
    "LX225": "A loop that may have more iterations than it is to end after.",
    "LX226": "A loop that may begin before the number that it is to begin at.",
    "LX227": "An array with elements that several work-items may use.",
    "LX237": "A file of sizes (`--sizes FILE`) that means nothing at this place: it has a set a "
    "line, or JSON: a list of sets, or an object of named ones.",
    "LX240": "A file of --baseline or --write-baseline that is not a baseline of loopxform, or is "
    "damaged, as by a merge.",
    "LX241": "A baseline that a newer loopxform has written.",
    "LX242": "A finding of the baseline that is no longer found: --write-baseline removes it.",
    "LX247": "Kernels that are not shown to compute what the C does: where the proof of "
    "`loopxform validate` ends (docs/trust.md).",
    "LX238": "An optional package is not installed that the command needs.",
    "LX239": "A setting of the editor that the language server does not have, or with a value that "
    "it does not take. The other settings are in force.",
    "LX243": "A loopxform.toml or a pyproject.toml that cannot be read, or is not TOML.",
    "LX244": "A key or a value of a loopxform.toml, or of [tool.loopxform] in a pyproject.toml, "
    "that means nothing there; docs/configuration.md has the keys.",
    "LX245": "A compile_commands.json that is not there, or cannot be understood: the JSON, an "
    "entry, its options, or a response file. `--compile-commands none` does without.",
    "LX246": "A file without an entry in the compile_commands.json that is named, which has none "
    "of another C file either whose options could stand for its own.",
    "LX200": "The transformed program and your C gave different results.",
    "LX210": "The interpreter does not model this program.",
    "LX212": "Rows that an array of row starts does not tell apart.",
    "LX211": "A kernel, run by the group executor, did what it must not: a data race, an access "
    "outside of its array, a read of what was never set, work-items that do not meet at a barrier.",
    "LX233": "An element that is a subscript, in a call from Python, leads out of its array.",
    "LX234": "No C compiler is there to look at elements that are subscripts.",
    "LX251": "Qualifiers, or static, stand in brackets that are not the first of a parameter: C "
    "does not allow them there, and compilers refuse the file.",
    "LX255": "A data directive (`#pragma loopxform data`, `enter data`, `exit data`, `update`) "
    "that says nothing meaningful, or stands where it cannot; docs/data.md.",
    "LX256": "Host and device each have an array, and an update is missing between them: the other "
    "side reads what is out of date (a warning).",
    "LX249": "A loop that a return leaves, and that another loop cannot go on with in the middle: "
    "iterations before set something, or it does not count with one integer.",
    "LX253": "A loop that a return leaves, and that is no search all of whose iterations may be "
    "asked at the same time.",
    "LX257": "A data region that a jump leaves, or a data directive that cannot be written as "
    "calls; of a loop that stays on the host, that such a directive stands in it.",
    # OpenMP: what a pragma claims is wrong
    "LX300": "A data race: two iterations that may run at the same time touch the same variable or "
    "element, one of them writing, and nothing keeps them apart.",
    "LX301": "A data race on the counter of an inner loop: declared outside the parallel loop, it "
    "is shared unless a clause makes it private.",
    "LX302": "A private variable is read before it is written: its copy has no value there.",
    "LX303": "The value of a private variable is used after the loop, where it is lost.",
    "LX304": "A variable carries a value from one iteration to the next, and is firstprivate: what "
    "an iteration finds depends on the thread that runs it.",
    "LX305": "The operator of a reduction clause is not the one the loop updates with.",
    "LX306": "A variable in a reduction clause is used for more than its updates: the loop sees "
    "the partial result of a thread, or overwrites it.",
    "LX307": "The step of a linear clause is not the one the loop advances the variable by.",
    "LX308": "collapse(n) needs n loops that stand directly inside each other.",
    "LX309": "A data race of an OpenMP loop with another statement of its parallel region: no "
    "barrier stands between them, or nowait removed it.",
    # OpenMP: what a pragma claims is not proven
    "LX310": "A race could not be excluded, nor proven.",
    "LX311": "A clause could not be shown to keep the meaning of the loop.",
    "LX312": "The value of a private variable may be used after the loop.",
    "LX313": "What other threads of the parallel region do meanwhile is not known well enough.",
    "LX314": "An OpenMP construct or clause that is not modelled.",
    "LX315": "A subscript leaves its array whenever the loop runs, so nothing is known about what "
    "it touches.",
    "LX316": "Text of the function depends on _OPENMP, which a compiler defines that heeds the "
    "pragmas: check with -D_OPENMP, so that it is read, or -U_OPENMP where it does not matter.",
    "LX317": "There is no data race, but critical sections or atomics run in any order, and the "
    "result may depend on which iteration comes first.",
    # annotations of the source
    "LX400": "A loop is annotated `parallel` or `check`, and its verdict is another.",
    "LX401": "An annotation asks for a tiling that cannot be had.",
}
"""Codes never change their meaning; tools match on them."""
