/** Meta, "Throughput": messages in and out, of all types, for one number. */
const levels: Partial<Record<string, string>> = {
  STANDARD: 'Standard: up to 80 messages a second',
  HIGH: 'High: up to 1,000 messages a second',
  NOT_APPLICABLE: 'Not applicable',
}

/** WhatsApp may think of another word: then it is shown as it is. */
export function describeThroughput(level: string): string {
  return levels[level] ?? level
}
