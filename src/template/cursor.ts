import { ServiceError } from '../../contracts/errors.ts'

/** A cursor names the last template seen: `name.language`, neither of which can hold a dot. */
export function encodeCursor({ name, language }: { name: string; language: string }): string {
  return `${name}.${language}`
}

export function decodeCursor(cursor: string): { name: string; language: string } {
  const [name, language, ...rest] = cursor.split('.')
  if (name === undefined || language === undefined || rest.length > 0)
    throw new ServiceError(
      'VALIDATION_ERROR',
      'cursor: must be the nextCursor of the page before. Leave it out for the first page.',
    )
  return { name, language }
}
