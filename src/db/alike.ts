/** Questions of one batch that are alike: the statement is asked one of them, and its answer is everybody's. */
export interface Alike<Question> {
  question: Question
  /** Where they stand in the batch, in its order. */
  places: number[]
}

/** A customer who sends much asks the same again and again: with the same key, from the same address, for one template. */
export function groupAlike<Question>(
  questions: readonly Question[],
  keyOf: (question: Question) => string,
): Alike<Question>[] {
  const groups = new Map<string, Alike<Question>>()
  for (const [place, question] of questions.entries()) {
    const key = keyOf(question)
    const group = groups.get(key)
    if (group) group.places.push(place)
    else groups.set(key, { question, places: [place] })
  }
  return [...groups.values()]
}
