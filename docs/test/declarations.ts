/** Names that a source declares: members of interfaces, words of unions. Read from the text alone. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from './pages.ts'

export interface Member {
  readonly name: string
  /** Its doc comment's text; empty without one. */
  readonly doc: string
}

/** The source of a file under the root, as the compiler sees it. */
function sourceOf(file: string): ts.SourceFile {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true)
}

/**
 * What a type of a file is made of: the members of an interface (inherited ones not), the words of
 * a union of words, the `type` of each interface of a union of interfaces.
 */
export function membersOf(file: string, type: string): Member[] {
  const source = sourceOf(file)
  const declared = find(source, type)
  if (declared === undefined) throw new Error(`${file} declares no type ${type}`)
  if (ts.isInterfaceDeclaration(declared)) return declared.members.map(memberOf)
  if (!ts.isUnionTypeNode(declared.type)) throw new Error(`${type} is no union`)
  return declared.type.types.map((part) => {
    if (ts.isTypeReferenceNode(part)) return { name: tagOf(source, part.getText()), doc: '' }
    return { name: part.getText().slice(1, -1), doc: '' }
  })
}

function find(
  source: ts.SourceFile,
  name: string,
): ts.InterfaceDeclaration | ts.TypeAliasDeclaration | undefined {
  return source.statements.find(
    (statement): statement is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
      (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) &&
      statement.name.text === name,
  )
}

function memberOf(member: ts.TypeElement): Member {
  const docs = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
  const doc = docs.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '').join(' ')
  return { name: member.name?.getText() ?? '', doc: doc.replaceAll('\n', ' ') }
}

/** The word in an interface's field `type`. */
function tagOf(source: ts.SourceFile, name: string): string {
  const declared = find(source, name)
  const tag =
    declared && ts.isInterfaceDeclaration(declared)
      ? declared.members.find((member) => member.name?.getText() === 'type')
      : undefined
  if (!tag || !ts.isPropertySignature(tag)) throw new Error(`${name} has no \`type\``)
  return tag.type!.getText().slice(1, -1)
}
