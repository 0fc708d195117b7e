import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const docs = path.resolve(import.meta.dirname, '../../docs')
const tolerance = 0.05

/**
 * Compares the numbers of a sentence in the documentation with what was measured, and returns those that differ. `{}`
 * stands for a number. `npm run sizes` writes the numbers instead.
 */
export async function compareDocumented(
  file: string,
  sentence: string,
  measured: readonly number[],
): Promise<{ documented: number; measured: number }[]> {
  const document = path.join(docs, file)
  const text = await readFile(document, 'utf8')
  const words = sentence.split(' ').map((word) => (word === '{}' ? String.raw`([\d.]+)` : RegExp.escape(word)))
  const found = new RegExp(words.join(String.raw`\s+`)).exec(text)
  if (!found) throw new Error(`docs/${file} does not contain "${sentence}".`)
  if (process.env['WRITE_SIZES'] === 'true') {
    const numbers = measured.values()
    const written = found[0].replaceAll(/[\d.]+/g, () => String(numbers.next().value))
    await writeFile(
      document,
      text.replace(found[0], () => written),
    )
    return []
  }
  return measured
    .map((value, index) => ({ documented: Number(found[index + 1]), measured: value }))
    .filter((pair) => Math.abs(pair.documented - pair.measured) > tolerance * pair.measured)
}
