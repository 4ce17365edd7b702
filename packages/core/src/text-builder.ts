/**
 * Text that grows by small pieces and is read once at the end.
 *
 * Pieces gather in a block; a full block is flattened (reading a character does that) before it
 * joins the rest. So the chain that the engine keeps has a link per block, not per piece.
 */

const BLOCK = 2_048

export class TextBuilder {
  length = 0
  private done = ''
  private block = ''

  clear(): void {
    this.length = 0
    this.done = ''
    this.block = ''
  }

  add(piece: string): void {
    this.length += piece.length
    this.block = this.block === '' ? piece : this.block + piece
    if (this.block.length < BLOCK) return
    this.block.charCodeAt(0)
    this.done = this.done === '' ? this.block : this.done + this.block
    this.block = ''
  }

  toString(): string {
    return this.done + this.block
  }
}
