/** Procedures under their dotted names, as a tRPC router takes them. */
export interface ProcedureRecord<T> {
  [name: string]: T | ProcedureRecord<T>
}

export function placeProcedure<T extends object>(
  record: ProcedureRecord<T>,
  [name = '', ...rest]: string[],
  procedure: T,
): void {
  if (rest.length === 0) {
    record[name] = procedure
    return
  }
  const inner = (record[name] ??= {})
  // Contracts and their namespaces never share a name.
  placeProcedure(inner as ProcedureRecord<T>, rest, procedure)
}
