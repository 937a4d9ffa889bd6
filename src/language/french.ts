/** Every sentence of the service, in French; a colon has its no-break space before it. */
import type { Messages } from "./english.ts";

export const FRENCH: Messages = {
  // Before the stream
  forbiddenHost:
    "Ce serveur ne répond pas pour le nom d'hôte de cette requête. Utilisez localhost ou démarrez le serveur avec --allow-host.",
  forbiddenOrigin:
    "Les pages de cette origine ne peuvent pas utiliser ce serveur. Pour les y autoriser, démarrez-le avec --allow-origin.",
  notFound: "Il n'y a rien à ce chemin. Les exécutions se lancent avec POST /.",
  methodNotAllowed: "Ce chemin n'accepte pas cette méthode. Méthodes autorisées\u00a0: {allowed}.",
  unauthorized: "Un jeton bearer valide est requis.",
  unsupportedMediaType: "Le corps de la requête doit être de type application/json.",
  requestTooLarge: "Le corps de la requête dépasse {limit} octets.",
  requestTimeout: "Le corps de la requête n'est pas arrivé dans le délai de {seconds} secondes.",
  invalidJson: "Le corps de la requête n'est pas du JSON valide en UTF-8.",
  invalidInput: "La requête n'est pas valide\u00a0: {field}.",
  stateUnavailable: "L'état de ce fil ne peut être ni lu ni écrit pour le moment.",
  serverBusy: "Le serveur a atteint son nombre maximal d'exécutions actives. Réessayez plus tard.",
  duplicateRunId: "Cette requête a déjà été acceptée sous le même runId.",
  runIdConflict: "Une autre requête a déjà été acceptée sous ce runId.",
  threadBusy: "Le fil a déjà une exécution active.",
  threadBindingConflict: "Le fil appartient à un autre espace de travail ou à un autre appelant.",
  resumeRequired: "Le fil attend des réponses à ses interruptions.",
  executionExpired: "L'interruption a expiré.",
  executionLost: "L'exécution à poursuivre n'a pas pu être récupérée.",
  executionNotFound: "Il n'existe aucune exécution de ce type pour ce fil et cet appelant.",
  internalError: "Le serveur n'a pas pu traiter cette requête.",
  // Fields of a request
  fieldRequired: "Le champ {field} est obligatoire.",
  fieldType: "Le champ {field} doit être de type {expected}.",
  fieldUnknown: "{field} n'est pas un champ connu.",
  fieldEmpty: "Le champ {field} ne doit pas être vide.",
  fieldTooLong: "Le champ {field} dépasse {limit} caractères.",
  fieldTooMany: "{field} contient plus de {limit} éléments.",
  fieldAllowed: "Le champ {field} doit avoir l'une des valeurs suivantes\u00a0: {allowed}.",
  fieldPositive: "Le champ {field} doit être un entier strictement positif.",
  fieldText: "Le champ {field} doit être un texte Unicode bien formé.",
  fieldHeaderName: "Le champ {field} doit contenir des noms et des valeurs d'en-tête HTTP valides.",
  nestedTooDeeply: "Le champ {field} comporte plus de {limit} niveaux d'imbrication.",
  toolsNotSupported: "Le champ {field} doit être vide\u00a0: les outils du client ne sont pas pris en charge.",
  userMessageMissing: "Le champ {field} doit contenir un message d'utilisateur avec du texte ou une image.",
  partNotSupported:
    "{field} est un type de contenu non pris en charge. Envoyez du texte, ou des images sous forme de données base64 intégrées.",
  imageNotInline: "Le champ {field} doit être une image sous forme de données base64 intégrées.",
  imageNotBase64: "Le champ {field} n'est pas du base64 strict (RFC 4648, avec remplissage, sans espaces).",
  imageTooLarge: "Le champ {field} dépasse {limit} octets une fois décodé.",
  imagesTooLarge: "Les images de {field} dépassent ensemble {limit} octets une fois décodées.",
  imageKind: "Le champ {field} n'est pas une image PNG, JPEG, GIF ou WebP lisible.",
  imagePixels: "Le champ {field} compte plus de {limit} pixels.",
  cwdNotAbsolute: "Le champ {field} doit être un chemin absolu.",
  cwdOutside: "Le champ {field} se situe hors des racines autorisées pour les espaces de travail.",
  cwdNotDirectory: "Le champ {field} n'est pas un répertoire utilisable comme espace de travail.",
  threadHeaderMismatch: "Le champ {field} ne correspond pas à l'en-tête X-Thread-Id.",
  // Ends of a run
  incompleteResume: "Chaque interruption en attente doit recevoir exactement une réponse.",
  unknownInterrupt: "La réponse désigne une interruption qui n'est pas en attente.",
  resumePayloadInvalid: "La réponse n'est pas conforme au schéma de réponse de l'interruption.",
  resumeAlreadyApplied: "Cette interruption a déjà reçu une réponse.",
  sessionBackupNotReady:
    "La sauvegarde de la session est encore en cours de synchronisation. Réessayez dans 3 secondes.",
  statePersistenceFailed:
    "L'état nécessaire à la reprise n'a pas pu être enregistré\u00a0; l'exécution a donc été arrêtée.",
  a2aUnavailable: "Le service d'exécution iac-code n'est pas disponible.",
  a2aProtocolError: "Le service d'exécution iac-code a renvoyé une réponse étrangère à cette exécution.",
  a2aExecutionFailed: "L'exécution a échoué",
  cancelled: "L'exécution a été annulée.",
  // Interrupts
  permissionRequired: "Une autorisation est requise.",
  inputRequired: "Une saisie est requise.",
  // Events
  bytesLeftOut: "[{bytes} octets omis]",
};
