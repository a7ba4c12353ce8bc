/** Fresh identifiers that nobody else has. They sort roughly by time and say nothing else. */
export interface IdSource {
  next(): string;
}
