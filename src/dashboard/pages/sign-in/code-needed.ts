/** The state with which another page leads to the sign-in page when the password was right, and not enough. */
export const codeNeeded = 'code-needed'
