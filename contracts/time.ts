/** A day of 24 hours. Days of a time zone can be shorter or longer: `zoned-days.ts`. */
export const dayMilliseconds = 86_400_000
