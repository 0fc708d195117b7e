/** The meaning of a status. Colour only supports the label. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral' | 'active'
