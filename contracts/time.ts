/** A day of 24 hours. Days of a time zone can be shorter or longer: `startOfDay` of `src/messages/queries/periods.ts`. */
export const dayMilliseconds = 86_400_000
