/** Every sentence of the service, in German. */
import type { Messages } from "./english.ts";

export const GERMAN: Messages = {
  // Before the stream
  forbiddenHost:
    "Dieser Server antwortet nicht für den Hostnamen dieser Anfrage. Verwenden Sie localhost oder starten Sie den Server mit --allow-host.",
  forbiddenOrigin:
    "Seiten dieses Ursprungs dürfen diesen Server nicht verwenden. Um sie zuzulassen, starten Sie ihn mit --allow-origin.",
  notFound: "Unter diesem Pfad gibt es nichts. Läufe werden mit POST / gestartet.",
  methodNotAllowed: "Dieser Pfad unterstützt diese Methode nicht. Erlaubt: {allowed}.",
  unauthorized: "Ein gültiges Bearer-Token ist erforderlich.",
  unsupportedMediaType: "Der Anfragetext muss vom Typ application/json sein.",
  requestTooLarge: "Der Anfragetext ist größer als {limit} Bytes.",
  requestTimeout: "Der Anfragetext ist nicht innerhalb von {seconds} Sekunden eingetroffen.",
  invalidJson: "Der Anfragetext ist kein gültiges JSON in UTF-8.",
  invalidInput: "Die Anfrage ist ungültig: {field}.",
  stateUnavailable: "Der Zustand dieses Threads kann zurzeit nicht gelesen oder geschrieben werden.",
  serverBusy: "Der Server hat die Höchstzahl aktiver Läufe erreicht. Versuchen Sie es später erneut.",
  duplicateRunId: "Diese Anfrage wurde bereits unter derselben runId angenommen.",
  runIdConflict: "Unter dieser runId wurde bereits eine andere Anfrage angenommen.",
  threadBusy: "Der Thread hat bereits einen aktiven Lauf.",
  threadBindingConflict: "Der Thread gehört zu einem anderen Arbeitsbereich oder Aufrufer.",
  resumeRequired: "Der Thread wartet auf Antworten zu seinen Unterbrechungen.",
  executionExpired: "Die Unterbrechung ist abgelaufen.",
  executionLost: "Die fortzusetzende Ausführung konnte nicht wiederhergestellt werden.",
  executionNotFound: "Für diesen Thread und Aufrufer gibt es keine solche Ausführung.",
  internalError: "Der Server konnte diese Anfrage nicht bearbeiten.",
  // Fields of a request
  fieldRequired: "{field} ist erforderlich.",
  fieldType: "{field} muss vom Typ {expected} sein.",
  fieldUnknown: "{field} ist kein bekanntes Feld.",
  fieldEmpty: "{field} darf nicht leer sein.",
  fieldTooLong: "{field} ist länger als {limit} Zeichen.",
  fieldTooMany: "{field} hat mehr als {limit} Einträge.",
  fieldAllowed: "{field} muss einer der folgenden Werte sein: {allowed}.",
  fieldPositive: "{field} muss eine positive ganze Zahl sein.",
  fieldText: "{field} muss wohlgeformter Unicode-Text sein.",
  fieldHeaderName: "{field} muss gültige Namen und Werte von HTTP-Headern enthalten.",
  nestedTooDeeply: "{field} ist mehr als {limit} Ebenen tief verschachtelt.",
  toolsNotSupported: "{field} muss leer sein: Werkzeuge des Clients werden nicht unterstützt.",
  userMessageMissing: "{field} muss eine Benutzernachricht mit Text oder einem Bild enthalten.",
  partNotSupported:
    "{field} ist eine nicht unterstützte Art von Inhalt. Senden Sie Text oder Bilder als eingebettete base64-Daten.",
  imageNotInline: "{field} muss ein Bild als eingebettete base64-Daten sein.",
  imageNotBase64: "{field} ist kein striktes base64 (RFC 4648, mit Füllzeichen, ohne Leerraum).",
  imageTooLarge: "{field} ist nach der Dekodierung größer als {limit} Bytes.",
  imagesTooLarge: "Die Bilder in {field} sind nach der Dekodierung zusammen größer als {limit} Bytes.",
  imageKind: "{field} ist kein lesbares PNG-, JPEG-, GIF- oder WebP-Bild.",
  imagePixels: "{field} hat mehr als {limit} Pixel.",
  cwdNotAbsolute: "{field} muss ein absoluter Pfad sein.",
  cwdOutside: "{field} liegt außerhalb der erlaubten Stammverzeichnisse für Arbeitsbereiche.",
  cwdNotDirectory: "{field} ist kein Verzeichnis, das als Arbeitsbereich verwendet werden kann.",
  threadHeaderMismatch: "{field} stimmt nicht mit dem Header X-Thread-Id überein.",
  // Ends of a run
  incompleteResume: "Jede offene Unterbrechung muss genau einmal beantwortet werden.",
  unknownInterrupt: "Die Antwort nennt eine Unterbrechung, die nicht offen ist.",
  resumePayloadInvalid: "Die Antwort entspricht nicht dem Antwortschema der Unterbrechung.",
  resumeAlreadyApplied: "Diese Unterbrechung wurde bereits beantwortet.",
  sessionBackupNotReady: "Die Sicherung der Sitzung wird noch synchronisiert. Versuchen Sie es in 3 Sekunden erneut.",
  statePersistenceFailed:
    "Der für die Wiederherstellung nötige Zustand konnte nicht gespeichert werden, daher wurde die Ausführung beendet.",
  a2aUnavailable: "Der iac-code-Ausführungsdienst ist nicht verfügbar.",
  a2aProtocolError: "Der iac-code-Ausführungsdienst hat mit etwas geantwortet, das nicht zu diesem Lauf gehört.",
  a2aExecutionFailed: "Die Ausführung ist fehlgeschlagen",
  cancelled: "Die Ausführung wurde abgebrochen.",
  // Interrupts
  permissionRequired: "Eine Genehmigung ist erforderlich.",
  inputRequired: "Eine Eingabe ist erforderlich.",
  // Events
  bytesLeftOut: "[{bytes} Bytes ausgelassen]",
};
