/**
 * Counts where a run went: a call of `__edge` at the beginning of every branch of a module.
 *
 * Branches are bodies of functions and loops, both arms of `if` and `?:`, cases of a `switch`, and
 * the right sides of `&&`, `||` and `??`. The text is changed by insertions alone and no line break
 * is added, so types can be blanked out afterwards and line numbers stay. Numbers come from the
 * file's name and the branch's place, so that they are the same in every run.
 */
import ts from 'typescript'

const RIGHT_SIDES = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
])

/** The TypeScript of a module, with counters. */
export function instrument(text, file) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  const insertions = []
  const name = file.slice(file.lastIndexOf('/') + 1)
  let hash = 0
  for (let index = 0; index < name.length; index++) {
    hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0
  }
  let count = 0
  const call = () => `__edge(${Math.imul(hash + count++, 0x9e37_79b1) >>> 16})`
  const insert = (at, code) => insertions.push({ at, code })
  const around = (node, before, after) => {
    insert(node.getStart(source), before)
    insert(node.getEnd(), after)
  }
  const expression = (node) => around(node, `(${call()},(`, '))')
  const statement = (node) => {
    if (node === undefined) return
    if (ts.isBlock(node)) insert(node.getStart(source) + 1, `${call()};`)
    else if (!ts.isIfStatement(node)) around(node, `{${call()};`, '}')
  }

  const visit = (node) => {
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) expression(node.body)
    else if (ts.isFunctionLike(node)) statement(node.body)
    else if (ts.isIterationStatement(node, false)) statement(node.statement)
    else if (ts.isConditionalExpression(node)) {
      expression(node.whenTrue)
      expression(node.whenFalse)
    } else if (ts.isBinaryExpression(node) && RIGHT_SIDES.has(node.operatorToken.kind)) {
      expression(node.right)
    } else if (ts.isIfStatement(node)) {
      statement(node.thenStatement)
      statement(node.elseStatement)
    } else if (ts.isCaseOrDefaultClause(node) && node.statements.length > 0) {
      insert(node.statements[0].getStart(source), `${call()};`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return apply(text, insertions)
}

/** Outer insertions come first in the list; at one place their ends have to come last. */
function apply(text, insertions) {
  const opening = (code) => code.startsWith('(') || code.startsWith('{') || code.endsWith(';')
  const ordered = insertions.map((insertion, order) => ({ ...insertion, order }))
  ordered.sort((a, b) => {
    if (a.at !== b.at) return a.at - b.at
    if (opening(a.code) !== opening(b.code)) return opening(a.code) ? 1 : -1
    return opening(a.code) ? a.order - b.order : b.order - a.order
  })
  let result = ''
  let end = 0
  for (const { at, code } of ordered) {
    result += text.slice(end, at) + code
    end = at
  }
  return result + text.slice(end)
}
