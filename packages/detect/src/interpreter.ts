/**
 * The engine's interpreter with a bill: each step and each value is paid for, see `budget.ts`. It
 * hooks in where every node passes, `evaluate`, and needs nothing of the engine that is private.
 *
 * A step whose result can be far larger than what went in would do its work before the bill comes.
 * There are four of them: `replace`, `join`, `indent` and `tojson`. Their operands are evaluated
 * first, and go in as nodes that are values already.
 */
import { type Budget, LimitError, MAX_VALUE, sizeOf } from './budget.ts'
import { type Callable, type Node, type Scope, type Value, Interpreter } from './engine.ts'

/** The type of a node that stands for a value. The engine knows no such type. */
const EVALUATED = 'Evaluated'
/** Filters whose result grows with the product of operand and arguments. */
const GROWING: ReadonlySet<string> = new Set(['join', 'indent', 'tojson'])
/** What that product may be: pretty tools have a few thousand. */
const MAX_PRODUCT = 4_194_304

interface EvaluatedNode extends Node {
  readonly value: Value
}

interface ForNode extends Node {
  /** With `lhs` if the loop has a condition. */
  readonly iterable: Node & { readonly lhs?: Node }
}

interface MemberNode extends Node {
  readonly object: Node
  readonly property: Node & { readonly value?: unknown }
  readonly computed: boolean
}

interface FilterNode extends Node {
  readonly operand: Node
  readonly filter: Node & {
    readonly value?: unknown
    readonly callee?: Node & { readonly value?: unknown }
    readonly args?: readonly (Node & { readonly value?: unknown })[]
  }
}

/** Units of a step, of a loop's turn, and of a name that is looked up in vain: as they take time. */
const STEP = 8
const TURN = 128
const UNKNOWN_NAME = 128
/** Steps within steps: of nested tags, expressions and macros. */
const MAX_DEPTH = 400

export class BoundedInterpreter extends Interpreter {
  /** Line of the tag that is being run; after an exception, of the one that threw. */
  line: number | undefined
  private depth = 0
  private readonly guarded = new WeakSet<Value>()
  private readonly budget: Budget
  private readonly sourceLength: number
  private readonly lines: ReadonlyMap<Node, number>

  constructor(
    scope: Scope,
    budget: Budget,
    sourceLength: number,
    lines: ReadonlyMap<Node, number> = new Map(),
  ) {
    super(scope)
    this.budget = budget
    this.sourceLength = sourceLength
    this.lines = lines
  }

  override evaluate(node: Node | undefined, scope: Scope): Value {
    if (node === undefined) return super.evaluate(node, scope)
    if (node.type === EVALUATED) return (node as EvaluatedNode).value
    const { line } = this
    this.line = this.lines.get(node) ?? line
    if (++this.depth > MAX_DEPTH) throw new LimitError('The template nests its steps too deep.')
    try {
      // A name is looked up through all that is open around it.
      this.budget.spend(STEP + this.depth)
      // The engine gives nothing at all for the first item of an empty list.
      const value =
        super.evaluate(this.prepared(node, scope), scope) ?? super.evaluate(undefined, scope)
      this.budget.spend(value.type === 'UndefinedValue' ? UNKNOWN_NAME : sizeOf(value.value))
      this.line = line
      return value
    } finally {
      this.depth--
    }
  }

  /** The node to run in the place of one that has to be paid for, or looked at, before. */
  private prepared(node: Node, scope: Scope): Node {
    switch (node.type) {
      case 'Macro':
      case 'CallStatement':
        // The engine searches the body for names, each time: at most all nodes of the source.
        this.budget.spend(this.sourceLength >> 3)
        return node
      case 'For':
        return this.preparedFor(node as ForNode, scope)
      case 'MemberExpression':
        return this.preparedMember(node as MemberNode, scope)
      case 'FilterExpression':
        return this.preparedFilter(node as FilterNode, scope)
      case 'FilterStatement': {
        const operand = { ...node, type: 'Program' }
        const { filter } = node as FilterNode
        return this.preparedFilter({ type: 'FilterExpression', operand, filter }, scope)
      }
      default:
        return node
    }
  }

  private preparedFor(node: ForNode, scope: Scope): Node {
    const { iterable } = node
    const list = this.evaluate(iterable.lhs ?? iterable, scope)
    const items = list.value
    const count = Array.isArray(items) ? items.length : items instanceof Map ? items.size : 0
    this.budget.spend(count * TURN)
    const known = evaluated(list)
    return { ...node, iterable: iterable.lhs ? { ...iterable, lhs: known } : known } as Node
  }

  private preparedMember(node: MemberNode, scope: Scope): Node {
    const { property, computed } = node
    const mayBeReplace = computed
      ? property.type !== 'SliceExpression' && property.type !== 'IntegerLiteral'
      : property.value === 'replace'
    if (!mayBeReplace) return node
    const object = this.evaluate(node.object, scope)
    this.guardReplace(object)
    return { ...node, object: evaluated(object) } as Node
  }

  private preparedFilter(node: FilterNode, scope: Scope): Node {
    const { filter } = node
    const name = filter.type === 'Identifier' ? filter.value : filter.callee?.value
    const value = this.evaluate(node.operand, scope)
    const operand = evaluated(value)
    if (name === 'replace') this.guardReplace(value)
    if (!GROWING.has(name as string) || !filter.args) return { ...node, operand } as Node

    let factor = 0
    const args = filter.args.map((argument) => {
      const isNamed = argument.type === 'KeywordArgumentExpression'
      if (!isNamed && argument.type.endsWith('SpreadExpression'))
        throw new Error(`Unpacked arguments of “${String(name)}” are not supported.`)
      const given = this.evaluate(isNamed ? (argument.value as Node) : argument, scope)
      factor += typeof given.value === 'number' ? Math.abs(given.value) : sizeOf(given.value)
      return isNamed ? { ...argument, value: evaluated(given) } : evaluated(given)
    })
    if (!(factor * sizeOf(value.value) <= MAX_PRODUCT)) throw tooLarge(String(name))
    return { ...node, operand, filter: { ...filter, args } } as Node
  }

  /** Makes a string's own `replace` count before it replaces, by whatever name it is called. */
  private guardReplace(text: Value): void {
    if (text?.type !== 'StringValue' || this.guarded.has(text)) return
    this.guarded.add(text)
    const method = text.builtins.get('replace')
    if (!method) return
    const replace = method.value as Callable
    const guarded: Callable = (args, scope) => {
      const [wanted, other] = args.map((argument) => argument?.value)
      if (typeof wanted === 'string' && typeof other === 'string') {
        const found = (text.value as string).split(wanted).length
        if (found * other.length > MAX_VALUE) throw tooLarge('replace')
      }
      return replace(args, scope)
    }
    method.value = guarded
  }
}

function evaluated(value: Value): EvaluatedNode {
  return { type: EVALUATED, value }
}

function tooLarge(name: string): LimitError {
  return new LimitError(`“${name}” makes a value that is too large.`)
}
