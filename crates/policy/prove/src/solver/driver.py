# cvc5 as a program, from its Python module: reads SMT-LIB 2 from standard input.
# Its argument: the seconds after which it ends itself.
import signal, sys

sys.path = [folder for folder in sys.path if folder]  # not whatever lies in the current folder
import cvc5

signal.alarm(int(sys.argv[1]))
solver = cvc5.Solver(cvc5.TermManager())
parser = cvc5.InputParser(solver)
parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "script")
symbols = parser.getSymbolManager()
try:
    while not (command := parser.nextCommand()).isNull():
        print(command.invoke(solver, symbols), end="", flush=True)
except RuntimeError as error:
    print('(error "%s")' % str(error).replace('"', '""'))
    sys.exit(1)
